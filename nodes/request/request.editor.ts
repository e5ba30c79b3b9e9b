import * as devices from '../common/editor/device-rows';
import * as messages from '../common/editor/message-rows';
import * as rows from '../common/editor/rows';
import { typed } from '../common/editor/typed-input';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { DATATYPES, SECONDS } from '../common/shared.config';
import { CHOICES, DEFAULTS, type RequestConfig } from './request.config';

type Config = RequestConfig & rows.Named;
type Node = EditorNode<Config>;
type Match = RequestConfig['match'];

/** The longest pattern that the library accepts. */
const MAX_PATTERN = 1000;

/** How the reply is recognised. A flow written by hand may leave it out. */
const matchOf = (node: Node): Match => (rows.current(node, 'match') || 'property') as Match;

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
    return rows.notBlank(pattern) ?? lackingError(pattern);
  } catch {
    return t('error.pattern');
  }
}

/** A property needs an object, which these make of no upload. */
function datatypeError(datatype: string, node: Node): string | undefined {
  const isText = datatype === 'utf8' || datatype === 'base64';
  if (matchOf(node) === 'property' && isText) return t('error.no-object');
  return rows.oneOf(...DATATYPES)(datatype);
}

RED.nodes.registerType<Config>('device-cloud-request', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-request.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    deviceType: rows.typeOfDevices(),
    chipid: devices.chipids<Config>(),
    chipidType: devices.chipidType,
    many: devices.many,
    atOnce: devices.atOnce<Config>(),
    format: messages.format<Config>(),
    message: messages.message<Config>(),
    messageType: messages.messageType,
    match: rows.choice(DEFAULTS.match, 'label.match', CHOICES.match),
    property: rows.required(DEFAULTS.property, 'label.property', pathError, matches('property')),
    equals: typed<Config>(
      DEFAULTS.equals,
      'label.equals',
      'equalsType',
      () => ['str', 'num', 'bool', 'json', 'msg'],
      matches('property'),
    ),
    equalsType: { value: DEFAULTS.equalsType },
    pattern: rows.required(DEFAULTS.pattern, 'label.pattern', patternError, matches('pattern')),
    replyTimeout: rows.limited(DEFAULTS.replyTimeout, 'label.replyTimeout', SECONDS),
    datatype: rows.checked(DEFAULTS.datatype, 'common.label.datatype', datatypeError),
    timeout: rows.timeout(),
  },
  label: function () {
    return rows.labelOf(this.name, t('paletteLabel'), devices.fixedDevice(this));
  },
  oneditprepare: function () {
    rows.opened(this);
    rows.onChange(['match'], () => {
      rows.show('#next-note', matchOf(this) === 'next');
      // The chosen type may have become valid, or invalid.
      rows.field('datatype').trigger('change');
    });
  },
});
