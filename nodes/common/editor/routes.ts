/*
 * Requests to the admin routes of this package. Their paths begin neither with `/` nor with `.`, so that Node-RED adds its
 * root and the bearer token. Callers trust the type of an answer, since the routes are the package's own.
 */

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
