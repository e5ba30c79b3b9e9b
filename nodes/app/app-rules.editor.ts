import { t } from '../common/editor/catalogue';
import { current, fieldValue } from '../common/editor/form';
import type { EditorNode } from '../common/editor/red';
import { AUTO_ZONE } from '../common/shared.config';
import { isVariable } from '../common/shared.config';
import { ZONE, type AppConfig } from './app.config';

/** The simulator needs no address and no key. */
export function isCloud(node: EditorNode<Pick<AppConfig, 'service'>>): boolean {
  return current(node, 'service') !== 'simulator';
}

/** Scheme, host and port, by the rules of the library's `parseBaseUrl`. */
export function baseUrlError(value: string): string | undefined {
  const text = value.trim();
  if (text === '') return t('common.error.blank');
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return t('error.url');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return t('error.scheme');
  if (url.username !== '' || url.password !== '') return t('error.user');
  if (/[?#]/.test(text)) return t('error.query');
  return url.pathname === '/' ? undefined : t('error.path');
}

/** Required unless only the server API is used, which only the form shows. */
export function appidError(value: string): string | undefined {
  if (value === '') {
    const serverKey = $('#node-config-input-serverKey');
    const nothing = serverKey.length > 0 && fieldValue(serverKey) === '';
    return nothing ? t('error.no-account') : undefined;
  }
  if (/^[0-9]{1,20}$/.test(value)) return undefined;
  // They look alike: a Chinese input method types these.
  return /[０-９]/.test(value) ? t('error.full-width') : t('error.appid');
}

/** Comes with an App ID; both are missing where neither they nor the server API's key are given. */
export const appkeyError = (appid: string, appkey: string): string | undefined =>
  pairError(appid, appkey) ??
  (appid === '' && appidError('') !== undefined ? t('error.no-key') : undefined);

export function zoneError(value: string): string | undefined {
  return value === AUTO_ZONE || ZONE.test(value) ? undefined : t('error.zone');
}

/** `auto`, `position`, or different pins, by the rules of the library's `parsePins`. */
export function pinsError(value: string): string | undefined {
  if (value === 'auto' || value === 'position') return undefined;
  const pins = value.split(',').map((pin) => pin.trim());
  const isList =
    pins.length <= 256 && pins.every((pin) => /^0*[0-9]{1,3}$/.test(pin) && pin.length <= 9);
  return isList && new Set(pins.map(Number)).size === pins.length ? undefined : t('error.pins');
}

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
export function pairError(id: string, secret: string): string | undefined {
  if (id !== '' && secret === '') return t('error.secret');
  return id === '' && secret !== '' ? t('error.secret-alone') : undefined;
}
