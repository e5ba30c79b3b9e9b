import * as rows from '../common/editor/rows';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import {
  AUTO_ZONE,
  CLUSTER_TYPE,
  isVariable,
  readText,
  type APP_TYPE,
} from '../common/shared.config';
import {
  CREATE_BOOK,
  CHOICES,
  DEFAULTS,
  isOutside,
  LIMITS,
  ZONE,
  type AppConfig,
  type AppCredentials,
} from './app.config';
import { prepareTest, testAdded } from './test.editor';

/** The simulator needs no address and no key. */
const isCloud = (node: EditorNode<Pick<AppConfig, 'service'>>): boolean =>
  rows.current(node, 'service') !== 'simulator';

/** Scheme, host and port, by the rules of the library's `parseBaseUrl`. */
function baseUrlError(value: string): string | undefined {
  const text = value.trim();
  if (text === '') return t('common.error.blank');
  if (/\$[{(]\w+[)}]/.test(text)) return t('error.url-variable');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return t('error.url');
  const isMore = url.username !== '' || url.password !== '' || /[?#]/.test(text);
  return isMore || url.pathname !== '/' ? t('error.origin') : undefined;
}

/** Required unless only the server API is used, which only the form shows. */
function appidError(value: string): string | undefined {
  if (value === '') {
    const serverKey = $('#node-config-input-serverKey');
    const nothing = serverKey.length > 0 && rows.fieldValue(serverKey) === '';
    return nothing ? t('error.no-account') : undefined;
  }
  if (/^[0-9]{1,20}$/.test(value)) return undefined;
  // They look alike: a Chinese input method types these.
  return /[０-９]/.test(value) ? t('error.full-width') : t('error.appid');
}

/** Comes with an App ID; both are missing where neither they nor the server API's key are given. */
const appkeyError = (appid: string, appkey: string): string | undefined =>
  pairError(appid, appkey) ?? (appid === '' ? appidError('') : undefined);

function zoneError(value: string): string | undefined {
  return value === AUTO_ZONE || ZONE.test(value) ? undefined : t('error.zone');
}

/** `auto`, `position`, or different pins, by the rules of the library's `parsePins`. */
function pinsError(value: string): string | undefined {
  if (value === 'auto' || value === 'position') return undefined;
  const pins = value.split(',').map((pin) => pin.trim());
  const isList =
    pins.length <= 256 && pins.every((pin) => /^0*[0-9]{1,3}$/.test(pin) && pin.length <= 9);
  return isList && new Set(pins.map(Number)).size === pins.length ? undefined : t('error.pins');
}

/** What is outside of the user directory needs an absolute path. */
const bookError = (path: string): string | undefined =>
  isOutside(path.trim()) ? t('error.book') : undefined;

/** Finds invalid settings in the form, before they are tried. */
export function invalidSettings(typed: (property: string) => string): [string, string][] {
  const found: [property: string, error: string | undefined][] = [
    ['baseUrl', isVariable(typed('baseUrl')) ? undefined : baseUrlError(typed('baseUrl'))],
    ['appid', isVariable(typed('appid')) ? undefined : appidError(typed('appid'))],
    ['appkey', appkeyError(typed('appid'), typed('appkey'))],
    ['serverPassword', pairError(typed('serverKey'), typed('serverPassword'))],
  ];
  return found.flatMap(([property, error]) =>
    error === undefined ? [] : [[t(`label.${property}`), error]],
  );
}

/** A key and its secret come together or not at all. */
function pairError(id: string, secret: string): string | undefined {
  if (id !== '' && secret === '') return t('error.secret');
  return id === '' && secret !== '' ? t('error.secret-alone') : undefined;
}

type Config = AppConfig & rows.Named;

function adapt(node: EditorNode<Config>): void {
  $('.device-cloud-cloud-only').toggle(isCloud(node));
  $('.device-cloud-simulator-only').toggle(!isCloud(node));
  $('#device-cloud-test-result').empty();
}

/** For somebody who wants to create a device book: its usual name, ready to be changed. */
function suggestBook(): void {
  $(document).removeData(CREATE_BOOK);
  const book = $('#node-config-input-book').val('devices.csv');
  // The dialog gives the focus to its first field when it has opened.
  setTimeout(() => book.trigger('focus').trigger('select'), 500);
}

RED.nodes.registerType<Config, AppCredentials>('device-cloud-app' satisfies typeof APP_TYPE, {
  category: 'config',
  icon: 'device-cloud-app.svg',
  color: '#a58bf0',
  defaults: {
    name: rows.name,
    service: rows.choice(DEFAULTS.service, 'label.service', CHOICES.service),
    baseUrl: rows.required<Config>('', 'label.baseUrl', baseUrlError, isCloud),
    appid: rows.required<Config>('', 'label.appid', appidError, isCloud),
    timeout: rows.timeout(DEFAULTS.timeout),
    heartbeat: rows.limited(DEFAULTS.heartbeat, 'label.heartbeat', LIMITS.heartbeat),
    ping: rows.limited(DEFAULTS.ping, 'label.ping', LIMITS.ping),
    timestampUnit: rows.choice(
      DEFAULTS.timestampUnit,
      'label.timestampUnit',
      CHOICES.timestampUnit,
    ),
    // As text: the editor leaves a default of 0 out of the form of a new config node.
    deviceGap: rows.limited(String(DEFAULTS.deviceGap), 'label.deviceGap', LIMITS.deviceGap),
    historyZone: rows.checked<Config>(
      DEFAULTS.historyZone,
      'label.historyZone',
      zoneError,
      isCloud,
    ),
    pins: rows.described('pins', rows.checked(DEFAULTS.pins, 'label.pins', pinsError)),
    book: rows.checked(DEFAULTS.book, 'label.book', bookError),
    charset: rows.choice(DEFAULTS.charset, 'label.charset', CHOICES.charset),
    tls: { value: '', type: 'tls-config', required: false, label: 'TLS' },
    proxy: { value: '', type: 'http proxy', required: false, label: t('label.proxy') },
    cluster: { value: '', type: CLUSTER_TYPE, required: false, label: t('label.cluster') },
  },
  credentials: {
    appkey: {
      type: 'password',
      label: t('label.appkey'),
      validate: rows.validator<Config>(
        (key, node) => appkeyError(rows.current(node, 'appid'), key),
        isCloud,
      ),
    },
    serverKey: { type: 'text' },
    serverPassword: {
      type: 'password',
      label: t('label.serverPassword'),
      validate: rows.validator<Config & AppCredentials>(
        (password, node) => pairError(rows.current(node, 'serverKey'), password),
        isCloud,
      ),
    },
  },
  paletteLabel: t('paletteLabel'),
  label: function () {
    const name = readText(this.name);
    if (name) return name;
    if (this.service === 'simulator') return t('node.simulator');
    const host = (readText(this.baseUrl) ?? '').replace(/^https?:\/\//, '').replace(/\/$/, '');
    return host === '' ? t('paletteLabel') : [this.appid, host].filter(Boolean).join(' @ ');
  },
  oneditprepare: function () {
    rows.opened(this);
    if ($(document).data(CREATE_BOOK) === this.id) suggestBook();
    $('#node-config-input-service').on('change', () => adapt(this));
    adapt(this);
    prepareTest(this.id, invalidSettings);
  },
  oneditsave: function () {
    testAdded(this.id, invalidSettings);
  },
});
