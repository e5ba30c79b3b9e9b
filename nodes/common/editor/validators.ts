import { isVariable } from '../shared.config';
import { said, t } from './catalogue';
import { current } from './form';
import type { EditorNode, EditorNodeBase, Validity, ValidatorOptions } from './red';

/** Returns what is wrong with a text, or nothing if it is valid. */
export type Check = (value: string) => string | undefined;

type Validate<T> = (this: EditorNode<T>, value: unknown, options: ValidatorOptions) => Validity;

/** A chip number is at most 20 digits, and never loses one (see the library's `parseChipid`). */
export const chipNumber: Check = (value) =>
  /^[0-9]{1,20}$/.test(value) ? undefined : t('common.error.chipid');

export const notBlank: Check = (value) =>
  value.trim() === '' ? t('common.error.blank') : undefined;

/** For a property that may be empty, or missing in a flow written by hand: the default applies. */
export function orDefault(check: Check): Check {
  return (value) => (value === '' ? undefined : check(value));
}

export function wholeNumber(min: number, max: number): Check {
  return (value) => {
    const number = Number(value);
    const right = /^[0-9]+$/.test(value) && number >= min && number <= max;
    return right ? undefined : t('common.error.whole', { min, max });
  };
}

/** A number of seconds, which may have a fraction. */
export function seconds(min: number, max: number): Check {
  return (value) => {
    const number = Number(value);
    const right = /^[0-9]*\.?[0-9]+$/.test(value) && number >= min && number <= max;
    return right ? undefined : t('common.error.seconds', { min, max });
  };
}

export function oneOf(...values: string[]): Check {
  return (value) => (values.includes(value) ? undefined : t('common.error.choice'));
}

/** Turns a check into the validator of a typedInput's type. */
export function typeValidator(check: Check): (value: string) => Validity {
  return (value) => (isVariable(value) ? true : (check(value) ?? true));
}

/** Turns a check into the validator of a property. `needed`: whether the node uses the property. */
export function validator<T>(
  check: (value: string, node: EditorNode<T>) => string | undefined,
  needed: (node: EditorNode<T>) => boolean = () => true,
): Validate<T> {
  return function (value, options) {
    if (!needed(this)) return true;
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    const error = check(text, this);
    if (error === undefined) return true;
    return options.label === undefined ? error : said(options.label, error);
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

/** The default of a text property, which the run time uses where a flow written by hand leaves it out. */
function usual(node: EditorNodeBase, property: string): string {
  const value = RED.nodes.getType(node.type).defaults[property]?.value;
  return typeof value === 'string' ? value : '';
}

/**
 * Validates the property behind a typedInput, whose type is in `typeProperty`, `<property>Type`: by the
 * check given for the type, else as Node-RED does. A missing value means the default.
 */
export function typedValidator<T>(
  typeProperty: keyof T & `${string}Type`,
  checks: Record<string, (value: string, node: EditorNode<T>) => string | undefined> = {},
  needed?: (node: EditorNode<T>) => boolean,
): Validate<T> {
  const validate = validator<T>((value, node) => {
    const type = current(node, typeProperty) || usual(node, typeProperty);
    const own = checks[type];
    return own ? own(value, node) : typedError(type, value);
  }, needed);
  const property = typeProperty.slice(0, -'Type'.length);
  return function (value, options) {
    return validate.call(this, value ?? usual(this, property), options);
  };
}
