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

function fieldOf({ name, label, options, hint, ...attributes }) {
  const id = `form-${name}`;
  const hintId = hint && `${id}-hint`;
  return element('div.field',
    element('label', { for: id }, label),
    options ? element('select', { id, name },
      options.map(([value, text]) => element('option', { value }, text)))
      : element('input', { id, name, type: 'text', autocomplete: 'off',
        'aria-describedby': hintId, ...attributes }),
    hint && element('span.hint', { id: hintId }, hint));
}

// A form of several fields: [{name, label, hint, options: [[value, text]]}], or attributes of an
// input instead of options. Resolves with what was given, by name, as text; with null if it was
// cancelled.
export function formInPage({ title, message, action, fields }) {
  return new Promise((resolve) => {
    const form = element('form', { method: 'dialog' },
      element('h2', { id: 'form-title' }, title),
      element('p', message),
      element('div.fields', fields.map(fieldOf)),
      element('div.dialog-buttons',
        element('button', { type: 'button', id: 'form-cancel', onclick: () => dialog.close() },
          'Cancel'),
        element('button.primary', { id: 'form-confirm', value: 'confirmed' }, action)));
    const dialog = element('dialog.wide', { id: 'form-box', 'aria-labelledby': 'form-title',
      onclose: () => {
        dialog.remove();
        const given = [...new FormData(form)].map(([name, value]) => [name, value.trim()]);
        resolve(dialog.returnValue === 'confirmed' ? Object.fromEntries(given) : null);
      } }, form);
    document.body.append(dialog);
    dialog.showModal();
    form.elements[0].focus();
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
