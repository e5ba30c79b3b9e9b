import { detailOf } from '../common/editor/devices';
import { checked, notBlank, seconds, validator } from '../common/editor/fields';
import { current, fieldValue, isOpen, opened, show } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { TestForm, testSettings, type ResultRow } from '../common/editor/test-form';
import { said, t } from '../common/editor/texts';
import {
  DEFAULTS,
  LEASE,
  type CLUSTER_TYPE,
  type ClusterConfig,
  type ClusterCredentials,
  type ClusterTestResult,
} from './cluster.config';

type Config = ClusterConfig & shared.Named;
type Node = EditorNode<Config>;

/** Variables are accepted as they are: their values are not known here. */
const VARIABLE = /\$\{[^{}\s]+\}/g;

const partsOf = (text: string): string[] => text.split(',').map((part) => part.trim());

/** How the engine is found. It is not saved, since it follows from whether Sentinels are given. */
const kindField = (): JQuery => $('#device-cloud-cluster-kind');

/** Whether the engine is found through Sentinels: as the open form has it, else as saved. */
function bySentinels(node: Node): boolean {
  if (isOpen(node, kindField())) return fieldValue(kindField()) === 'sentinels';
  return current(node, 'sentinels') !== '';
}

const byUrl = (node: Node): boolean => !bySentinels(node);

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function oneUrlError(text: string): string | undefined {
  // A port or the number of a database, too, may be a variable.
  const url = parse(text.replace(VARIABLE, '1'));
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '') return t('error.url');
  if (url.username !== '' || url.password !== '') return t('error.user');
  const isPlain = /^(\/\d{0,4})?$/.test(url.pathname) && url.search === '' && url.hash === '';
  return isPlain ? undefined : t('error.url');
}

/** The address of a node: one written by hand may have Sentinels as well, which its form would not save. */
function addressError(value: string, node: Node): string | undefined {
  if (byUrl(node)) return urlError(value);
  return isOpen(node, kindField()) || value.trim() === '' ? undefined : t('error.both');
}

/** Addresses, by the rules of the library. A password in one would be saved where all can read it. */
function urlError(value: string): string | undefined {
  if (value.trim() === '') return t('common.error.blank');
  if (/^\$\{[^{}\s]+\}$/.test(value.trim())) return undefined;
  const urls = partsOf(value);
  const wrong = urls.map(oneUrlError).find((error) => error !== undefined);
  if (wrong !== undefined) return wrong;
  const schemes = new Set(urls.map((url) => url.split(':')[0]));
  return schemes.size > 1 ? t('error.mixed') : undefined;
}

function sentinelsError(value: string): string | undefined {
  if (value.trim() === '') return t('common.error.blank');
  const isHost = (text: string): boolean => {
    const url = parse(`redis://${text.replace(VARIABLE, '1')}`);
    return url !== undefined && url.hostname !== '' && url.username === '' && url.pathname === '';
  };
  return partsOf(value).every(isHost) ? undefined : t('error.sentinel');
}

/** A smaller difference, in seconds, may be the round trip. */
const CLOCK_NOISE = 5;

const good = (text: string): ResultRow => ({ icon: 'fa-check', text });
const warning = (text: string): ResultRow => ({ icon: 'fa-warning', text });
const note = (text: string): ResultRow => ({ icon: 'fa-info-circle', text });

function reasonOf({ code, reason, settings = [], missingPackage }: ClusterTestResult): string {
  if (reason !== undefined) {
    const names = settings.map((name) => t(`label.${name}`)).join(', ');
    return t(`test.reason.${reason}`, { settings: names });
  }
  if (missingPackage !== undefined) return t('test.library');
  if (code === 'UNREACHABLE') return t('test.unreachable');
  return t(code === 'NOT_CONFIGURED' ? 'test.incomplete' : 'test.other');
}

function failedRow(result: ClusterTestResult): ResultRow {
  const row = { icon: 'fa-times', text: said(t('test.server'), reasonOf(result)) };
  if (result.reason !== undefined) return row;
  return { ...row, detail: detailOf(result.code ?? '', result.message ?? '') };
}

function memberRow({
  name: app,
  members,
}: {
  name: string;
  members: readonly string[];
}): ResultRow {
  if (members.length === 0) return note(t('test.no-members', { app }));
  const values = { app, number: members.length, members: members.join(', ') };
  return note(t(members.length === 1 ? 'test.member' : 'test.members', values));
}

/** Puts the result of a test into words. */
function resultRows(result: ClusterTestResult): ResultRow[] {
  if (!result.ok) return [failedRow(result)];
  const { product, version, persistence = 'unknown', eviction, clockSkew } = result;
  const { forbidden = [], apps = [] } = result;
  const server = product ? t('test.reached', { product, version }) : t('test.unknown');
  const rights = {
    icon: 'fa-times',
    text: t('test.forbidden-rights'),
    detail: forbidden.join(' '),
  };
  const persists = { log: good, unknown: note, snapshots: warning, none: warning }[persistence];
  const isSafe = eviction === undefined || eviction === 'noeviction';
  const seconds = Math.round(Math.abs(clockSkew ?? 0));
  const clock =
    seconds < CLOCK_NOISE ? good(t('test.clock-right')) : warning(t('test.clock-off', { seconds }));
  return [
    good(said(t('test.server'), server)),
    ...(forbidden.length === 0 ? [] : [rights]),
    persists(t(`test.persistence.${persistence}`)),
    ...(isSafe ? [] : [warning(t('test.eviction', { policy: eviction }))]),
    ...(apps.length === 0 ? [note(t('test.no-apps'))] : apps.map(memberRow)),
    ...(clockSkew === undefined ? [] : [clock]),
  ];
}

const form = new TestForm('.device-cloud-cluster');
const typed = (property: string): string => form.typed(property);

/** Those of the other way to find the engine are not saved, and not tried. */
function settings(node: Node): Record<string, unknown> {
  const found = bySentinels(node)
    ? { url: '', sentinels: typed('sentinels'), master: typed('master') }
    : { url: typed('url'), sentinels: '', master: '' };
  const credentials = form.credentials(['user', 'password']);
  return { id: node.id, ...found, lease: typed('lease'), tls: form.chosen('tls'), credentials };
}

/** Tests the typed settings, before they are saved or deployed. */
async function test(node: Node): Promise<ResultRow[]> {
  const checks = bySentinels(node)
    ? { sentinels: sentinelsError, master: notBlank }
    : { url: urlError };
  const invalid = Object.entries(checks).flatMap(([property, check]): ResultRow[] => {
    const error = check(typed(property));
    if (error === undefined) return [];
    return [{ icon: 'fa-times', text: said(t(`label.${property}`), error) }];
  });
  if (invalid.length > 0) return invalid;
  return testSettings('clusters/test', settings(node), (body) =>
    resultRows(body as ClusterTestResult),
  );
}

const input = (property: string): JQuery => $(`#node-config-input-${property}`);

/** The first address, without what one should not have but may: a user and a password. */
function firstHost(addresses: string): string {
  const [first = '', ...others] = addresses.replace(/rediss?:\/\/([^@,/]*@)?/g, '').split(',');
  return others.length === 0 ? first.trim() : `${first.trim()} …`;
}

RED.nodes.registerType<Config, ClusterCredentials>(
  'device-cloud-cluster' satisfies typeof CLUSTER_TYPE,
  {
    category: 'config',
    icon: 'device-cloud-cluster.svg',
    color: '#a58bf0',
    defaults: {
      name: shared.name,
      version: shared.version,
      url: {
        value: DEFAULTS.url,
        label: t('label.url'),
        validate: validator<Config>(addressError),
      },
      sentinels: {
        value: DEFAULTS.sentinels,
        label: t('label.sentinels'),
        validate: validator<Config>(sentinelsError, bySentinels),
      },
      master: {
        value: DEFAULTS.master,
        label: t('label.master'),
        validate: validator<Config>(notBlank, bySentinels),
      },
      tls: { value: DEFAULTS.tls, type: 'tls-config', required: false, label: t('label.tls') },
      lease: checked(DEFAULTS.lease, 'label.lease', seconds(LEASE.min, LEASE.max)),
    },
    credentials: { user: { type: 'text' }, password: { type: 'password' } },
    paletteLabel: t('paletteLabel'),
    label: function () {
      const where = firstHost(this.sentinels || this.url || '');
      return this.name || where || t('paletteLabel');
    },
    oneditprepare: function () {
      opened(this);
      kindField().val(current(this, 'sentinels') === '' ? 'url' : 'sentinels');
      const adapt = (): void => {
        show('.device-cloud-url-only', byUrl(this));
        show('.device-cloud-sentinels-only', bySentinels(this));
        // Their validity depends on the kind.
        for (const property of ['url', 'sentinels', 'master']) input(property).trigger('change');
      };
      kindField().on('change', adapt);
      adapt();
      form.prepare(() => test(this));
    },
    oneditsave: function () {
      const unused = bySentinels(this) ? ['url'] : ['sentinels', 'master'];
      for (const property of unused) input(property).val('');
    },
  },
);
