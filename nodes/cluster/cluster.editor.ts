import * as rows from '../common/editor/rows';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { isVariable, readText, type CLUSTER_TYPE } from '../common/shared.config';
import { DEFAULTS, LEASE, type ClusterConfig, type ClusterCredentials } from './cluster.config';

type Config = ClusterConfig & rows.Named;

const valueOf = (node: EditorNode<Config>, property: 'url' | 'sentinels' | 'master'): string =>
  rows.current(node, property).trim();

/** One of the two says where it is, by the rules of the library's `readAddress`. */
function urlError(value: string, node: EditorNode<Config>): string | undefined {
  const url = value.trim();
  const hasSentinels = valueOf(node, 'sentinels') !== '';
  if (url === '') return hasSentinels ? undefined : t('common.error.blank');
  if (hasSentinels) return t('error.both');
  return isVariable(url) || /^rediss?:\/\/[^/?#,]+(\/\d{0,4})?$/.test(url)
    ? undefined
    : t('error.url');
}

const masterError = (value: string, node: EditorNode<Config>): string | undefined =>
  value.trim() === '' && valueOf(node, 'sentinels') !== '' ? t('common.error.blank') : undefined;

RED.nodes.registerType<Config, ClusterCredentials>(
  'device-cloud-cluster' satisfies typeof CLUSTER_TYPE,
  {
    category: 'config',
    icon: 'device-cloud-cluster.svg',
    color: '#a58bf0',
    defaults: {
      name: rows.name,
      url: rows.required<Config>('', 'label.url', urlError),
      sentinels: { value: '' },
      master: rows.required<Config>('', 'label.master', masterError),
      tls: { value: '', type: 'tls-config', required: false, label: 'TLS' },
      lease: rows.limited(DEFAULTS.lease, 'label.lease', LEASE),
    },
    credentials: { user: { type: 'text' }, password: { type: 'password' } },
    paletteLabel: t('paletteLabel'),
    label: function () {
      const name = readText(this.name);
      if (name) return name;
      const where = readText(this.url) || readText(this.sentinels) || '';
      // A url may have a password in it.
      return where.replace(/^rediss?:\/\/(.*@)?/, '') || t('paletteLabel');
    },
    oneditprepare: rows.oneditprepare,
  },
);
