import { said, t } from '../common/editor/texts';
import type { EditorNode } from '../common/editor/red';
import { TestForm, testSettings, type ResultRow } from '../common/editor/test-form';
import type { ClusterConfig, ClusterTestResult } from './cluster.config';
import { bySentinels, invalidSettings } from './cluster-rules.editor';

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
  // The code can be searched for.
  return { ...row, detail: [result.code, result.message].filter(Boolean).join(': ') };
}

function persistenceRow({ persistence = 'unknown' }: ClusterTestResult): ResultRow {
  const text = t(`test.persistence.${persistence}`);
  if (persistence === 'log') return good(text);
  return persistence === 'unknown' ? note(text) : warning(text);
}

function evictionRows({ eviction = 'noeviction' }: ClusterTestResult): ResultRow[] {
  return eviction === 'noeviction' ? [] : [warning(t('test.eviction', { policy: eviction }))];
}

function clockRows({ clockSkew }: ClusterTestResult): ResultRow[] {
  if (clockSkew === undefined) return [];
  const seconds = Math.round(Math.abs(clockSkew));
  if (seconds < CLOCK_NOISE) return [good(t('test.clock-right'))];
  return [warning(t('test.clock-off', { seconds }))];
}

function forbiddenRows({ forbidden = [] }: ClusterTestResult): ResultRow[] {
  if (forbidden.length === 0) return [];
  return [{ icon: 'fa-times', text: t('test.forbidden-rights'), detail: forbidden.join(' ') }];
}

function memberRows({ apps = [] }: ClusterTestResult): ResultRow[] {
  if (apps.length === 0) return [note(t('test.no-apps'))];
  return apps.map(({ name: app, members }) => {
    if (members.length === 0) return note(t('test.no-members', { app }));
    const values = { app, number: members.length, members: members.join(', ') };
    return note(t(members.length === 1 ? 'test.member' : 'test.members', values));
  });
}

/** Puts the result of a test into words. */
function resultRows(result: ClusterTestResult): ResultRow[] {
  if (!result.ok) return [failedRow(result)];
  const { product, version } = result;
  const server = product ? t('test.reached', { product, version }) : t('test.unknown');
  return [
    good(said(t('test.server'), server)),
    ...forbiddenRows(result),
    persistenceRow(result),
    ...evictionRows(result),
    ...memberRows(result),
    ...clockRows(result),
  ];
}

type Node = EditorNode<ClusterConfig>;

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

async function test(node: Node): Promise<ResultRow[]> {
  const invalid = invalidSettings(node, typed);
  if (invalid.length > 0)
    return invalid.map(([setting = '', error = '']) => ({
      icon: 'fa-times',
      text: said(setting, error),
    }));
  return testSettings('clusters/test', settings(node), (body) =>
    resultRows(body as ClusterTestResult),
  );
}

/** Makes the button test what is typed, before it is saved or deployed. */
export function prepareTest(node: Node): void {
  form.prepare(() => test(node));
}
