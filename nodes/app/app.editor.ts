import type { CLUSTER_TYPE } from '../cluster/cluster.config';
import { t } from '../common/editor/catalogue';
import { current, opened } from '../common/editor/form';
import type { Named } from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { oneOf, orDefault, seconds, validator, wholeNumber } from '../common/editor/validators';
import { MAX_SECONDS } from '../common/shared.config';
import { CHARSETS, HISTORY_ENCODINGS, type APP_TYPE } from '../common/shared.config';
import { DEFAULTS, type AppConfig, type AppCredentials } from './app.config';
import {
  appidError,
  appkeyError,
  baseUrlError,
  isCloud,
  pairError,
  pinsError,
  zoneError,
} from './app-rules.editor';
import { prepareTest } from './test.editor';

type Config = AppConfig & Named;

function adapt(node: EditorNode<Config>): void {
  $('.device-cloud-cloud-only').toggle(isCloud(node));
  $('.device-cloud-simulator-only').toggle(!isCloud(node));
  $('#device-cloud-test-result').empty();
}

/** A setting that is not the usual one should be seen at once. */
function isUnusual(node: EditorNode<Config>): boolean {
  const { service: _service, baseUrl: _baseUrl, appid: _appid, ...usual } = DEFAULTS;
  return Object.entries(usual).some(([property, value]) => {
    const saved = node[property as keyof typeof usual];
    return saved !== undefined && String(saved) !== String(value);
  });
}

RED.nodes.registerType<Config, AppCredentials>('device-cloud-app' satisfies typeof APP_TYPE, {
  category: 'config',
  icon: 'device-cloud-app.svg',
  color: '#a58bf0',
  defaults: {
    name: { value: '' },
    service: {
      value: DEFAULTS.service,
      label: t('label.service'),
      validate: validator(orDefault(oneOf('cloud', 'simulator'))),
    },
    baseUrl: {
      value: '',
      label: t('label.baseUrl'),
      validate: validator<Config>(baseUrlError, isCloud),
    },
    appid: { value: '', label: t('label.appid'), validate: validator<Config>(appidError, isCloud) },
    timeout: {
      value: DEFAULTS.timeout,
      label: t('label.timeout'),
      validate: validator(orDefault(seconds(0.001, MAX_SECONDS))),
    },
    heartbeat: {
      value: DEFAULTS.heartbeat,
      label: t('label.heartbeat'),
      validate: validator(orDefault(seconds(0, MAX_SECONDS))),
    },
    ping: {
      value: DEFAULTS.ping,
      label: t('label.ping'),
      validate: validator(orDefault(seconds(0, MAX_SECONDS))),
    },
    timestampUnit: { value: DEFAULTS.timestampUnit },
    connections: {
      value: DEFAULTS.connections,
      label: t('label.connections'),
      validate: validator(orDefault(wholeNumber(1, 10_000))),
    },
    deviceGap: {
      // As text: the editor leaves a default of 0 out of the form of a new config node.
      value: String(DEFAULTS.deviceGap),
      label: t('label.deviceGap'),
      validate: validator(orDefault(seconds(0, MAX_SECONDS * 1000))),
    },
    historyEncoding: {
      value: DEFAULTS.historyEncoding,
      label: t('label.historyEncoding'),
      validate: validator(orDefault(oneOf(...HISTORY_ENCODINGS))),
    },
    historyZone: {
      value: DEFAULTS.historyZone,
      label: t('label.historyZone'),
      validate: validator<Config>(orDefault(zoneError), isCloud),
    },
    pins: {
      value: DEFAULTS.pins,
      label: t('label.pins'),
      validate: validator(orDefault(pinsError)),
    },
    charset: {
      value: DEFAULTS.charset,
      label: t('label.charset'),
      validate: validator(orDefault(oneOf(...CHARSETS))),
    },
    postParameters: {
      value: DEFAULTS.postParameters,
      label: t('label.postParameters'),
      validate: validator(orDefault(oneOf('body', 'query'))),
    },
    signCase: {
      value: DEFAULTS.signCase,
      label: t('label.signCase'),
      validate: validator(orDefault(oneOf('unicode', 'ascii'))),
    },
    tls: { value: '', type: 'tls-config', required: false, label: t('label.tls') },
    proxy: { value: '', type: 'http proxy', required: false, label: t('label.proxy') },
    cluster: {
      value: '',
      type: 'device-cloud-cluster' satisfies typeof CLUSTER_TYPE,
      required: false,
      label: t('label.cluster'),
    },
  },
  credentials: {
    appkey: {
      type: 'password',
      label: t('label.appkey'),
      validate: validator<Config>((key, node) => appkeyError(current(node, 'appid'), key), isCloud),
    },
    serverKey: { type: 'text' },
    serverPassword: {
      type: 'password',
      label: t('label.serverPassword'),
      validate: validator<Config & AppCredentials>(
        (password, node) => pairError(current(node, 'serverKey'), password),
        isCloud,
      ),
    },
  },
  paletteLabel: t('paletteLabel'),
  label: function () {
    if (this.name) return this.name;
    if (this.service === 'simulator') return t('node.simulator');
    const host = (this.baseUrl ?? '').replace(/^https?:\/\//, '').replace(/\/$/, '');
    return host === '' ? t('paletteLabel') : [this.appid, host].filter(Boolean).join(' @ ');
  },
  oneditprepare: function () {
    opened(this);
    $('#node-config-input-service').on('change', () => adapt(this));
    adapt(this);
    $('#device-cloud-advanced').prop('open', isUnusual(this));
    prepareTest(this.id);
  },
});
