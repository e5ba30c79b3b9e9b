import * as rows from '../common/editor/rows';
import { numberType, stringType, typed } from '../common/editor/typed-input';
import type { EditorNode, PropertyDefinition, TypeDefinition } from '../common/editor/red';
import { said, t } from '../common/editor/texts';
import { parseJsonObject } from '../common/shared.config';
import { CHOICES, DEFAULTS, INPUTS, type ServerConfig, type ServerInput } from './server.config';

type Config = ServerConfig & rows.Named;
type Node = EditorNode<Config>;
type Operation = ServerConfig['operation'];

function uses(property: ServerInput): (node: Node) => boolean {
  return (node) => {
    const inputs = (INPUTS as Partial<Record<string, readonly string[]>>)[
      rows.current(node, 'operation')
    ];
    return inputs?.includes(property) ?? false;
  };
}

/** Their limits are not shown (section 4.1); left empty, the parameter is not sent. */
const pageNumber = rows.numberIn({ min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true });
const pageError: rows.Check = (value) => (value === '' ? undefined : pageNumber(value));

/** Goes into the path as it is, since the signature is over the path. */
function deviceidError(value: string): string | undefined {
  const right = /^[A-Za-z0-9._~-]{1,64}$/.test(value) && !/^\.+$/.test(value);
  return right ? undefined : t('error.deviceid');
}

const isEmptyQuery = (value: string): boolean => /^\s*(\{\s*\}\s*)?$/.test(value);

/** By the rules of the library's `parseQuery`. */
const fitsQuery = (value: unknown): boolean =>
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

/** Nothing is read without pagination (section 4.1), whatever its parameters are called. */
function queryError(value: string): string | undefined {
  if (isEmptyQuery(value)) return t('error.no-query');
  const query = parseJsonObject(value);
  if (!query) return t('common.error.object');
  return Object.values(query).every(fitsQuery) ? undefined : t('error.query-value');
}

/** Says below the query what it is, and that an empty one fails. */
function describeQuery(): void {
  const query = rows.field('query');
  const empty = query.typedInput('type') === 'json' && isEmptyQuery(query.typedInput('value'));
  $('#query-note')
    .text(empty ? said(t('label.query'), t('error.no-query')) : t('note.query'))
    .toggleClass('device-cloud-wrong', empty);
}

/**
 * What the vendor's own client of this API sends, as something to begin with: the document names no fields. A name and a
 * note rather than empty ones, which would be written.
 */
const SUGGESTIONS: Partial<Record<Operation, ['body' | 'query', value: object]>> = {
  update: ['body', { name: 'new name', note: 'note' }],
  passthrough: ['body', { data_type: '', msgtype: '', data: '' }],
  uploads: ['query', { page: 1, count: 20 }],
};

function showSuggestion(operation: Operation): void {
  const [property, value] = SUGGESTIONS[operation] ?? [];
  rows.show('#suggestion-row', property !== undefined);
  if (property === undefined) return;
  const text = JSON.stringify(value);
  $('#suggestion').text(text);
  $('#suggestion-use')
    .off('click')
    .on('click', () => {
      rows.field(property).typedInput('type', 'json');
      rows.field(property).typedInput('value', text);
      rows.field(property).trigger('change');
    });
}

/** The property behind a typedInput, which counts for the operations that use it. */
const input = (
  property: ServerInput,
  type: `${ServerInput}Type`,
  types: () => (string | TypeDefinition)[],
  checks: Record<string, rows.Check> = {},
): PropertyDefinition<Config, string> =>
  typed<Config>(DEFAULTS[property], `label.${property}`, type, types, uses(property), checks);

const pages = () => [numberType(pageError), 'msg'];

RED.nodes.registerType<Config>('device-cloud-server', {
  category: 'device cloud',
  categoryDescription: rows.categoryDescription,
  labelStyle: rows.labelStyle,
  onadd: rows.onadd,
  paletteLabel: t('paletteLabel'),
  color: '#a58bf0',
  icon: 'device-cloud-server.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: rows.name,
    app: rows.app(),
    operation: rows.choice(DEFAULTS.operation, 'common.label.operation', CHOICES.operation),
    deviceid: input('deviceid', 'deviceidType', () => ['msg', stringType(deviceidError)]),
    deviceidType: { value: DEFAULTS.deviceidType },
    page: input('page', 'pageType', pages),
    pageType: { value: DEFAULTS.pageType },
    count: input('count', 'countType', pages),
    countType: { value: DEFAULTS.countType },
    body: input('body', 'bodyType', () => ['msg', 'json'], { json: rows.jsonObject }),
    bodyType: { value: DEFAULTS.bodyType },
    query: input('query', 'queryType', () => ['json', 'msg'], { json: queryError }),
    queryType: { value: DEFAULTS.queryType },
  },
  label: function () {
    const does = t(`node.${this.operation ?? 'devices'}`);
    return rows.labelOf(this.name, said(t('paletteLabel'), does));
  },
  oneditprepare: function () {
    rows.opened(this);
    rows.onChange(['operation'], () =>
      showSuggestion(rows.current(this, 'operation') as Operation),
    );
    describeQuery();
    rows.field('query').on('change keyup typedinputtypechange', describeQuery);
  },
});
