import {
  checked,
  choice,
  notBlank,
  oneOf,
  required,
  seconds,
  typed,
} from '../common/editor/fields';
import { current, field, onChange, opened, show } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { DATATYPES, MAX_SECONDS } from '../common/shared.config';
import { CHOICES, DEFAULTS, type RequestConfig } from './request.config';

type Config = RequestConfig & shared.Named;
type Node = EditorNode<Config>;
type Match = RequestConfig['match'];

/** The longest pattern that the library accepts. */
const MAX_PATTERN = 1000;

/** How the reply is recognised. A flow written by hand may leave it out. */
const matchOf = (node: Node): Match => (current(node, 'match') || 'property') as Match;

const matches =
  (match: Match) =>
  (node: Node): boolean =>
    matchOf(node) === match;

/** The run time reads a path with more care: this finds the likeliest mistakes. */
function pathError(path: string): string | undefined {
  const step = /(?:^|\.)[^.[\]\s'"]+|\[(?:\d+|"[^"]*"|'[^']*')\]/y;
  let end = 0;
  for (step.lastIndex = 0; step.test(path);) end = step.lastIndex;
  return path !== '' && end === path.length ? undefined : t('error.path');
}

/** What is said of a pattern that no engine matches in linear time; the run time finds the rest. */
function lackingError(pattern: string): string | undefined {
  // Inside a class, and behind a backslash, both are something else.
  const rest = pattern.replace(/\\[^1-9k]|\[(?:\\.|[^\]\\])*\]/g, '');
  return /\(\?<?[=!]|\\(?:[1-9]|k<)/.test(rest) ? t('error.lacking') : undefined;
}

function patternError(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return t('error.long', { max: MAX_PATTERN });
  try {
    new RegExp(pattern);
    return notBlank(pattern) ?? lackingError(pattern);
  } catch {
    return t('error.pattern');
  }
}

/** A property needs an object, which these make of no upload. */
function datatypeError(datatype: string, node: Node): string | undefined {
  const isText = datatype === 'utf8' || datatype === 'base64';
  if (matchOf(node) === 'property' && isText) return t('error.no-object');
  return oneOf(...DATATYPES)(datatype);
}

RED.nodes.registerType<Config>('device-cloud-request', {
  category: 'device cloud',
  categoryDescription: shared.categoryDescription,
  labelStyle: shared.labelStyle,
  onadd: shared.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-request.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: shared.name,
    app: shared.app(),
    deviceType: shared.typeOfDevices(),
    chipid: shared.chipids<Config>(),
    chipidType: shared.chipidType,
    many: shared.many,
    atOnce: shared.atOnce<Config>(),
    format: shared.format<Config>(),
    message: shared.message<Config>(),
    messageType: shared.messageType,
    match: choice(DEFAULTS.match, 'label.match', CHOICES.match),
    property: required(DEFAULTS.property, 'label.property', pathError, matches('property')),
    equals: typed<Config>(
      DEFAULTS.equals,
      'label.equals',
      'equalsType',
      () => ['str', 'num', 'bool', 'json', 'msg'],
      matches('property'),
    ),
    equalsType: { value: DEFAULTS.equalsType },
    pattern: required(DEFAULTS.pattern, 'label.pattern', patternError, matches('pattern')),
    replyTimeout: checked(DEFAULTS.replyTimeout, 'label.replyTimeout', seconds(0.001, MAX_SECONDS)),
    datatype: checked(DEFAULTS.datatype, 'common.label.datatype', datatypeError),
    timeout: shared.timeout(),
  },
  label: function () {
    return shared.labelOf(this.name, t('paletteLabel'), shared.fixedDevice(this));
  },
  oneditprepare: function () {
    opened(this);
    onChange(['match'], () => {
      show('#next-note', matchOf(this) === 'next');
      // The chosen type may have become valid, or invalid.
      field('datatype').trigger('change');
    });
  },
});
