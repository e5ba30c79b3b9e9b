/*
 * Requests to the admin routes of this package. Their paths begin neither with `/` nor with `.`, so that Node-RED adds its
 * root and the bearer token. Callers trust the type of an answer, since the routes are the package's own.
 */
import { isObject, readText } from '../shared.config';
import { t } from './texts';

/** A path of the routes of an application, below `device-cloud/`. */
export const appPath = (app: string, ...parts: string[]): string =>
  ['apps', app, ...parts].map(encodeURIComponent).join('/');

/** Reads from a route. @param path below `device-cloud/` */
export const getRoute = (path: string): JQueryXHR => $.getJSON(`device-cloud/${path}`);

/**
 * Saves what a route answers as a file. A link would not carry the bearer token.
 * @param path below `device-cloud/`
 * @param accept its media type, of a route that has others, too
 */
export async function downloadRoute(path: string, name: string, accept = '*/*'): Promise<void> {
  const answer: unknown = await $.ajax({
    url: `device-cloud/${path}`,
    headers: { accept },
    xhrFields: { responseType: 'blob' },
  });
  saveFile(answer as Blob, name);
}

/** Has the browser save a file. */
export function saveFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = $('<a>', { href: url, download: name }).appendTo('body');
  link[0]?.click();
  link.remove();
  // Until the browser has begun to save it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Sends JSON to a route. @param path below `device-cloud/` */
export const postRoute = (path: string, data: object): JQueryXHR =>
  $.ajax({
    url: `device-cloud/${path}`,
    method: 'POST',
    contentType: 'application/json',
    data: JSON.stringify(data),
  });

/**
 * Replaces what a route shows, or a part of it, if it is still what was read.
 * @param path below `device-cloud/`
 * @param data a file, or a value that is sent as JSON
 * @param revision of what was read
 */
export const putRoute = (path: string, data: object, revision: string): JQueryXHR =>
  $.ajax({
    url: `device-cloud/${path}`,
    method: 'PUT',
    headers: { 'if-match': `"${revision}"` },
    contentType: data instanceof Blob ? 'text/csv' : 'application/json',
    data: data instanceof Blob ? data : JSON.stringify(data),
    processData: false,
  });

/** Why something cannot be shown: in the reader's language, and in the service's words. */
export interface Problem {
  reason: string;
  detail?: string;
}

/** The error of an unsuccessful answer; empty texts if it has none. */
export function errorIn(failure: unknown): { code: string; message: string } {
  const { responseJSON: body } = isObject(failure) ? failure : {};
  const { error } = isObject(body) ? body : {};
  const { code, message } = isObject(error) ? error : {};
  return { code: readText(code) ?? '', message: readText(message) ?? '' };
}

/**
 * Says why an admin route has not answered as it should: by the error of its answer or, without one, by the HTTP status.
 * @param permission the permission that the route needs
 */
export function explainFailure(
  failure: unknown,
  permission: 'device-cloud.read' | 'device-cloud.write',
): Problem {
  const { code, message } = errorIn(failure);
  // A code without a text is shown by its message.
  const words = code === '' ? '' : wordsFor(code);
  if (message !== '')
    return words === '' ? { reason: message } : { reason: words, detail: detailOf(code, message) };
  const status = isObject(failure) ? Number(failure['status']) : 0;
  // Node-RED answers 401 both to users without the permission and to users who are no longer logged in.
  if (status === 401 && RED.user.hasPermission(permission))
    return { reason: t('common.picker.expired') };
  if (status === 401 || status === 403) return { reason: t('common.forbidden', { permission }) };
  return { reason: t(status === 404 ? 'common.picker.undeployed' : 'common.picker.unanswered') };
}

/**
 * The details of an error for the reader, which begin with its code: that can be searched for. The message is in English:
 * in another language they are the service's own words, which the message quotes, and what to do about the code.
 */
export function detailOf(code: string, message: string): string {
  const advice = t(`common.advice.${code}`, { defaultValue: '' });
  if (advice === '' || RED.i18n.lang().startsWith('en'))
    return code === '' || message.startsWith(code) ? message : `${code}: ${message}`;
  const said = /"([^"]+)"/.exec(message)?.[1];
  const words = said === undefined ? '' : `${t('common.advice.said', { said })} `;
  return `${code}: ${words}${advice}`;
}

/** The service refuses a wrong App ID as it does a wrong key, with 401 or 404 (section 7). */
const wordsFor = (code: string): string =>
  ['UNAUTHORIZED', 'NOT_FOUND'].includes(code) ? t('common.picker.refused') : statusText(code);

/** The words with which a node's status shows an error; empty for an unknown code. */
export const statusText = (code: string): string =>
  t(`status.${code.toLowerCase().replace(/_/g, '-')}`, { defaultValue: '' });
