// Questions in the page.

import { element } from './dom.js';

// Resolves when the dialog is closed: with what was typed into the input that `input` describes
// ({label, attributes}), '' without one; with null if it was cancelled, which `canCancel` allows.
// id: what the ids of its parts start with.
function ask({ id, title, message, action, input = null, canCancel = true }) {
  return new Promise((resolve) => {
    const field = input && element('input', { id: `${id}-input`, autocomplete: 'off',
      ...input.attributes });
    const confirm = element('button.primary', { id: `${id}-confirm`, value: 'confirmed' }, action);
    const dialog = element('dialog', { id: `${id}-box`, 'aria-labelledby': `${id}-title`,
      oncancel: (event) => canCancel || event.preventDefault(),
      onclose: () => {
        dialog.remove();
        resolve(dialog.returnValue === 'confirmed' ? field?.value.trim() ?? '' : null);
      } },
    element('form', { method: 'dialog' },
      element('h2', { id: `${id}-title` }, title),
      element('p', message),
      field && element('label', { for: `${id}-input` }, input.label),
      field,
      element('div.dialog-buttons',
        canCancel && element('button', { type: 'button', id: `${id}-cancel`,
          onclick: () => dialog.close() }, 'Cancel'),
        confirm)));
    document.body.append(dialog);
    dialog.showModal();
    (field ?? confirm).focus();
  });
}

// Before something that is hard to undo. With `inputLabel`, asks for a text as well.
export const confirmInPage = ({ title, message, action, inputLabel = null }) =>
  ask({ id: 'dialog', title, message, action, input: inputLabel && { label: inputLabel,
    attributes: { type: 'text', maxlength: '200' } } });

// The bearer token of a service that wants one; there is no way past it but a token.
export const askForToken = (wasRefused) => ask({ id: 'token',
  title: 'This service asks for a token',
  message: wasRefused ? 'That token was not accepted. Try another.'
    : 'It is kept until this tab closes and goes nowhere but to this service.',
  action: 'Continue', canCancel: false, input: { label: 'Bearer token',
    attributes: { type: 'password', name: 'token', required: true, spellcheck: 'false' } } });
