import { t } from './catalogue';
import { field, fieldValue } from './form';
import type { TypeDefinition } from './red';
import { typeValidator, type Check } from './validators';

/** The types after `msg` and what is typed by hand: their value is known when a message arrives. */
export const DYNAMIC = ['flow', 'global', 'env', 'jsonata'];

/** Text typed by hand, judged by `check`. */
export function textType(label: string, icon: string, check?: Check): TypeDefinition {
  const type: TypeDefinition = { value: 'str', label, icon };
  return check ? { ...type, validate: typeValidator(check) } : type;
}

/** A number typed by hand, judged by `check`. */
export function numberType(check: Check): TypeDefinition {
  return {
    value: 'num',
    label: RED._('typedInput.type.num'),
    icon: 'red/images/typedInput/09.svg',
    validate: typeValidator(check),
  };
}

/** A number chosen by its name. */
export function namedNumbers(label: string, names: Record<string, string>): TypeDefinition {
  const options = Object.entries(names).map(([value, name]) => ({ value, label: name }));
  return { value: 'num', label, icon: 'fa fa-toggle-on', options };
}

function typeName(type: string | TypeDefinition): string {
  return typeof type === 'string' ? type : type.value;
}

/**
 * Makes a typedInput of a property, whose type is in `<property>Type`. A flow written by hand may
 * use another of Node-RED's types: it is offered too, or the dialog would silently change it.
 */
export function typedInput(property: string, types: (string | TypeDefinition)[]): void {
  const saved = fieldValue(field(`${property}Type`));
  const known = saved === '' || types.some((type) => typeName(type) === saved);
  field(property).typedInput({
    types: known ? types : [...types, saved],
    typeField: `#node-input-${property}Type`,
    default: 'msg',
  });
  forgetNameOfProperty(property);
  nameParts(property);
}

/**
 * Names the parts of a typedInput for screen readers: Node-RED hides the field that the label is of, and makes new
 * ones. By reference, since the label has no text yet; and a button's own content is a glyph of a font.
 */
function nameParts(property: string): void {
  const label = `device-cloud-label-${property}`;
  // Its text alone, without its icon.
  $(`label[for="node-input-${property}"] > span`).attr('id', label);
  const container = field(property).nextAll('.red-ui-typedInput-container').first();
  container.find('.red-ui-typedInput-input').attr('aria-labelledby', label);
  const type = container.children('.red-ui-typedInput-type-select');
  const choice = container.children('.red-ui-typedInput-option-trigger');
  const named = (button: JQuery, part: string): JQuery => {
    const id = `${label}-${part}`;
    button.attr('aria-labelledby', `${label} ${id}`);
    return $('<span>', { id }).hide().appendTo(container);
  };
  const [ofType, ofChoice] = [named(type, 'type'), named(choice, 'choice')];
  const describe = (): void => {
    ofType.text(type.attr('title') ?? '');
    ofChoice.text(choice.text().trim());
  };
  field(property).on('change typedinputtypechange', describe);
  describe();
}

/**
 * Node-RED keeps the text when the type changes. The name of a message's property is no number and
 * no text to push: it gives way to what is typed by hand, and comes back with the type.
 */
function forgetNameOfProperty(property: string): void {
  const input = field(property);
  const look = (): { type: string; value: string } => ({
    type: input.typedInput('type'),
    value: input.typedInput('value'),
  });
  let before = look();
  let name = '';
  input.on('typedinputtypechange', () => {
    const { type, value } = look();
    const named = type === 'msg' || DYNAMIC.includes(type);
    if (before.type === 'msg' && !named && value === before.value) {
      name = value;
      input.typedInput('value', '');
    } else if (type === 'msg' && value === '') input.typedInput('value', name);
  });
  input.on('change keyup', () => (before = look()));
}

/** A field whose type is not a property, since it can only be one. */
export function fixedInput(property: string, type: 'json' | 'jsonata'): void {
  field(property).typedInput({ types: [type], default: type });
  nameParts(property);
}

/** Validates the field again, after a change of something that its validity depends on. */
export function revalidate(property: string): void {
  field(property).typedInput('validate');
  field(property).trigger('change');
}

/** Node-RED's own name and icon of plain text. */
export function stringType(check: Check): TypeDefinition {
  return textType(RED._('typedInput.type.str'), 'red/images/typedInput/az.svg', check);
}

/** The moment at which the message arrives, as milliseconds. */
export function nowType(): TypeDefinition {
  return { value: 'date', label: t('common.type.now'), icon: 'fa fa-clock-o', hasValue: false };
}

/** A moment typed by hand. */
export function dateType(check: Check): TypeDefinition {
  return textType(t('common.type.date'), 'fa fa-calendar', check);
}
