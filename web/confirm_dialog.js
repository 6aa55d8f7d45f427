// A question in the page, before something that is hard to undo.

import { element } from './dom.js';

// Resolves with {confirmed, text}: text is what was typed where `input_label` asks for it.
export function confirm_in_page({ title, message, action, input_label = null }) {
  return new Promise((resolve) => {
    const input = input_label === null ? null : element('input', {
      id: 'dialog-input', type: 'text', maxlength: '200', autocomplete: 'off',
    });
    const dialog = element('dialog', { id: 'confirm-dialog', 'aria-labelledby': 'dialog-title' },
      element('form', { method: 'dialog' },
        element('h2', { id: 'dialog-title' }, title),
        element('p', {}, message),
        input && element('label', { for: 'dialog-input' }, input_label),
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
