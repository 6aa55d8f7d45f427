// A question in the page, before something that is hard to undo.

import { element } from './dom.js';

// Resolves with {confirmed, text}: text is what was typed, if `inputLabel` asks for it.
export function confirmInPage({ title, message, action, inputLabel = null }) {
  return new Promise((resolve) => {
    const input = inputLabel === null ? null : element('input', {
      id: 'dialog-input', type: 'text', maxlength: '200', autocomplete: 'off',
    });
    const dialog = element('dialog', { id: 'confirm-dialog', 'aria-labelledby': 'dialog-title' },
      element('form', { method: 'dialog' },
        element('h2', { id: 'dialog-title' }, title),
        element('p', {}, message),
        input && element('label', { for: 'dialog-input' }, inputLabel),
        input,
        element('div', { class: 'dialog-buttons' },
          element('button', { type: 'button', id: 'dialog-cancel', onclick: () => dialog.close() },
            'Cancel'),
          element('button', { class: 'primary', id: 'dialog-confirm', value: 'confirmed' },
            action))));
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve({ confirmed: dialog.returnValue === 'confirmed', text: input?.value.trim() ?? '' });
    });
    document.body.append(dialog);
    dialog.showModal();
    (input ?? dialog.querySelector('#dialog-confirm')).focus();
  });
}
