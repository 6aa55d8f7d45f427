// Asks for the bearer token of a service that wants one.

import { element } from './dom.js';

// Resolves with what was typed; there is no way past it but a token.
export function askForToken(wasRefused) {
  return new Promise((resolve) => {
    const input = element('input', {
      id: 'token-input', type: 'password', name: 'token', autocomplete: 'off', required: true,
      spellcheck: 'false',
    });
    const dialog = element('dialog', { id: 'token-dialog', 'aria-labelledby': 'token-title' },
      element('form', { method: 'dialog' },
        element('h2', { id: 'token-title' }, 'This service asks for a token'),
        element('p', {}, wasRefused
          ? 'That token was not accepted. Try another.'
          : 'It is kept until this tab closes and goes nowhere but to this service.'),
        element('label', { for: 'token-input' }, 'Bearer token'),
        input,
        element('div', { class: 'dialog-buttons' },
          element('button', { class: 'primary', id: 'token-send' }, 'Continue'))));
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(input.value.trim());
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
