import { t } from '../common/editor/texts';
import { current, opened, show } from '../common/editor/form';
import * as shared from '../common/editor/properties';
import { notBlank, number, seconds, validator } from '../common/editor/fields';
import {
  DEFAULTS,
  LEASE,
  type CLUSTER_TYPE,
  type ClusterConfig,
  type ClusterCredentials,
} from './cluster.config';
import {
  addressError,
  bySentinels,
  byUrl,
  kindField,
  sentinelsError,
} from './cluster-rules.editor';
import { prepareTest } from './test.editor';

type Config = ClusterConfig & shared.Named;

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
      lease: number(DEFAULTS.lease, 'label.lease', seconds(LEASE.min, LEASE.max)),
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
      prepareTest(this);
    },
    oneditsave: function () {
      const unused = bySentinels(this) ? ['url'] : ['sentinels', 'master'];
      for (const property of unused) input(property).val('');
    },
  },
);
