import { isVariable, typedText, TYPE_TYPE, VALUE_TYPES } from '../shared.config';
import type { EditorNode, PropertyDefinition, TypeDefinition, Validity } from './red';
import {
  current,
  field,
  fieldValue,
  notBlank,
  prepared,
  usual,
  validator,
  type Check,
  type NodeCheck,
} from './rows';
import { t } from './texts';

/** The types after `msg` and text: their value is known when a message arrives. */
const DYNAMIC = ['flow', 'global', 'env', 'jsonata'];

/** The types of a typedInput before those that are dynamic. */
type Types<T> = (node: EditorNode<T>) => (string | TypeDefinition)[];

/**
 * The property behind a typedInput, whose type is in `typeProperty`, `<property>Type`: it is judged by the
 * check given for the type, else by the type's own, else as Node-RED does. A missing value means the default.
 */
export function typed<T>(
  value: string,
  label: string,
  typeProperty: keyof T & `${string}Type`,
  types: Types<T>,
  needed?: (node: EditorNode<T>) => boolean,
  checks: Record<string, NodeCheck<T>> = {},
): PropertyDefinition<T, string> {
  const property = typeProperty.slice(0, -'Type'.length);
  const typeOf = (node: EditorNode<T>): string =>
    current(node, typeProperty) || String(usual(node, typeProperty));
  const judge = validator<T>((text, node) => {
    const type = typeOf(node);
    if (!VALUE_TYPES.includes(type)) return t('common.error.value');
    if (checks[type]) return checks[type](text, node);
    const known = types(node).find((each) => typeof each !== 'string' && each.value === type);
    const { validate } = (known ?? {}) as Partial<TypeDefinition>;
    if (!validate) return typedError(type, text);
    const validity = validate(text);
    return validity === true ? undefined : validity;
  }, needed);
  return {
    value,
    label: t(label),
    ...(needed && { applies: needed }),
    validate(given, options) {
      const saved = typedText(typeOf(this), given) ?? usual(this, property);
      return judge.call(this, saved, options);
    },
    prepare(node) {
      // The name of a message's property that it begins with when that type is chosen.
      const name = usual(node, typeProperty) === 'msg' ? usual(node, property) : '';
      typedInput(property, [...types(node), ...DYNAMIC], String(name));
    },
  };
}

/** Checks a typed value by the rules of its type. */
function typedError(type: string, value: string): string | undefined {
  if (type === 'env' || type === 'jsonata') {
    const blank = notBlank(value);
    if (blank !== undefined) return blank;
  }
  const validity = RED.utils.validateTypedProperty(value, type, {});
  if (validity === true) return undefined;
  return validity === false ? t('common.error.value') : validity;
}

/**
 * Makes a typedInput of a property, whose type is in `<property>Type`. A flow written by hand may
 * use another of Node-RED's types: it is offered too, or the dialog would silently change it.
 * @param name of the property of a message that it begins with when `msg` is chosen
 */
function typedInput(property: string, types: (string | TypeDefinition)[], name: string): void {
  const saved = fieldValue(field(`${property}Type`));
  const names = types.map((type) => (typeof type === 'string' ? type : type.value));
  const known = saved === '' || names.includes(saved);
  field(property).typedInput({
    types: known ? types : [...types, saved],
    typeField: `#node-input-${property}Type`,
    default: 'msg',
  });
  forgetNameOfProperty(property, name);
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
  const ofType = named(type, 'type');
  const ofChoice = named(choice, 'choice');
  const describe = (): void => {
    ofType.text(type.attr('title') ?? '');
    ofChoice.text(choice.text().trim());
  };
  field(property).on('change typedinputtypechange', describe);
  describe();
}

/**
 * Node-RED keeps the text when the type changes. The name of a message's property is no number and
 * no text to push: it gives way to typed text, and comes back with the type.
 */
function forgetNameOfProperty(property: string, usualName: string): void {
  const input = field(property);
  const look = (): { type: string; value: string } => ({
    type: input.typedInput('type'),
    value: input.typedInput('value'),
  });
  let before = look();
  let name = usualName;
  input.on('typedinputtypechange', () => {
    const { type, value } = look();
    const named = type === 'msg' || DYNAMIC.includes(type);
    if (before.type === 'msg' && !named && value === before.value) {
      name = value;
      input.typedInput('value', '');
    } else if (type === 'msg' && (value === '' || /^[0-9]+$/.test(value)))
      input.typedInput('value', name);
  });
  input.on('change keyup', () => (before = look()));
}

/** A property that is always JSON, so that no other property has its type. */
export const json = <T, V extends string>(
  property: string,
  definition: PropertyDefinition<T, V>,
): PropertyDefinition<T, V> =>
  prepared(definition, () => {
    field(property).typedInput({ types: ['json'], default: 'json' });
    nameParts(property);
  });

/** Validates the field again, after a change of something that its validity depends on. */
export function revalidate(property: string): void {
  field(property).typedInput('validate');
  field(property).trigger('change');
}

/** Turns a check into the validator of a typedInput's type. */
const typeValidator =
  (check: Check) =>
  (value: string): Validity =>
    isVariable(value) || (check(value) ?? true);

/** Text typed by hand, judged by `check`. */
export const textType = (label: string, icon: string, check: Check): TypeDefinition => ({
  value: 'str',
  label,
  icon,
  validate: typeValidator(check),
});

/** Node-RED's own name and icon of plain text. */
export const stringType = (check: Check): TypeDefinition =>
  textType(RED._('typedInput.type.str'), 'red/images/typedInput/az.svg', check);

/** A number typed by hand, judged by `check`. */
export const numberType = (check: Check): TypeDefinition => ({
  ...textType(RED._('typedInput.type.num'), 'red/images/typedInput/09.svg', check),
  value: 'num',
});

/** A number chosen by its name. */
export function namedNumbers(label: string, names: Record<string, string>): TypeDefinition {
  const options = Object.entries(names).map(([value, name]) => ({ value, label: name }));
  return { value: 'num', label, icon: 'fa fa-toggle-on', options };
}

/** A moment typed by hand. */
export const dateType = (check: Check): TypeDefinition =>
  textType(t('common.type.date'), 'fa fa-calendar', check);

/** The moment at which the message arrives, as milliseconds. */
export const nowType = (): TypeDefinition => ({
  value: 'date',
  label: t('common.type.now'),
  icon: 'fa fa-clock-o',
  hasValue: false,
});

/** Text that is completed from what types of devices have: the type that the open form names, otherwise all types. */
export function completedType(
  type: TypeDefinition,
  property: 'pins' | 'callbacks',
  read: (text: string) => Iterable<string>,
): TypeDefinition {
  const autoComplete: TypeDefinition['autoComplete'] = (typed, done) => {
    const own = fieldValue(field('deviceType'));
    const names = new Set<string>();
    RED.nodes.eachConfig((config) => {
      const text = (config as EditorNode<Record<'pins' | 'callbacks', unknown>>)[property];
      const isWanted = own === '' || own === '_ADD_' || own === config.id;
      if (config.type === TYPE_TYPE && isWanted && typeof text === 'string')
        for (const name of read(text)) names.add(name);
    });
    const found = [...names].filter((name) => name.includes(typed.trim()));
    done(found.map((name) => ({ value: name, label: $('<span>').text(name) })));
  };
  return { ...type, autoComplete };
}
