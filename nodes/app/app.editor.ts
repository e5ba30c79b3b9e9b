import type { CLUSTER_TYPE } from '../cluster/cluster.config';
import { t } from '../common/editor/catalogue';
import { current, opened } from '../common/editor/form';
import type { Named } from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import { oneOf, orDefault, seconds, validator, wholeNumber } from '../common/editor/validators';
import { MAX_SECONDS } from '../common/values';
import { AUTO_ZONE, CHARSETS, HISTORY_ENCODINGS, type APP_TYPE } from '../common/app-type';
import type { AppConfig, AppCredentials } from './app.config';
import {
  appidError,
  appkeyError,
  baseUrlError,
  isCloud,
  pairError,
  pinsError,
  zoneError,
} from './app-rules.editor';
import { prepareTest } from './connection-test/test-button.editor';

type Config = Required<AppConfig> & Named;

/** The defaults of the numbers. */
const USUAL = {
  timeout: 15,
  heartbeat: 300,
  ping: 30,
  connections: 64,
  // As text: the editor leaves a default of 0 out of the form of a new config node.
  deviceGap: '0',
};

/** The defaults of the choices. */
const USUAL_CHOICES = {
  timestampUnit: 'ms',
  historyEncoding: 'auto',
  historyZone: AUTO_ZONE,
  pins: 'auto',
  charset: 'utf-8',
  postParameters: 'body',
  signCase: 'unicode',
} as const;

function adapt(node: EditorNode<Config>): void {
  $('.device-cloud-cloud-only').toggle(isCloud(node));
  $('.device-cloud-simulator-only').toggle(!isCloud(node));
  $('#device-cloud-test-result').empty();
}

/** A setting that is not the usual one should be seen at once. */
function isUnusual(node: EditorNode<Config>): boolean {
  const usual = { ...USUAL, ...USUAL_CHOICES, tls: '', proxy: '', cluster: '' };
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
      value: 'cloud',
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
      value: USUAL.timeout,
      label: t('label.timeout'),
      validate: validator(orDefault(seconds(0.001, MAX_SECONDS))),
    },
    heartbeat: {
      value: USUAL.heartbeat,
      label: t('label.heartbeat'),
      validate: validator(orDefault(seconds(0, MAX_SECONDS))),
    },
    ping: {
      value: USUAL.ping,
      label: t('label.ping'),
      validate: validator(orDefault(seconds(0, MAX_SECONDS))),
    },
    timestampUnit: { value: USUAL_CHOICES.timestampUnit },
    connections: {
      value: USUAL.connections,
      label: t('label.connections'),
      validate: validator(orDefault(wholeNumber(1, 10_000))),
    },
    deviceGap: {
      value: USUAL.deviceGap,
      label: t('label.deviceGap'),
      validate: validator(orDefault(seconds(0, MAX_SECONDS * 1000))),
    },
    historyEncoding: {
      value: USUAL_CHOICES.historyEncoding,
      label: t('label.historyEncoding'),
      validate: validator(orDefault(oneOf(...HISTORY_ENCODINGS))),
    },
    historyZone: {
      value: USUAL_CHOICES.historyZone,
      label: t('label.historyZone'),
      validate: validator<Config>(orDefault(zoneError), isCloud),
    },
    pins: {
      value: USUAL_CHOICES.pins,
      label: t('label.pins'),
      validate: validator(orDefault(pinsError)),
    },
    charset: {
      value: USUAL_CHOICES.charset,
      label: t('label.charset'),
      validate: validator(orDefault(oneOf(...CHARSETS))),
    },
    postParameters: {
      value: USUAL_CHOICES.postParameters,
      label: t('label.postParameters'),
      validate: validator(orDefault(oneOf('body', 'query'))),
    },
    signCase: {
      value: USUAL_CHOICES.signCase,
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
