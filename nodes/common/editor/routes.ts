/*
 * Requests to the admin routes of this package. Their paths begin neither with `/` nor with `.`, so that Node-RED adds its
 * root and the bearer token. Callers trust the type of an answer, since the routes are the package's own.
 */

/** Reads from a route. @param path below `device-cloud/` */
export const getRoute = (path: string): JQueryXHR => $.getJSON(`device-cloud/${path}`);

/**
 * Saves what a route answers as a file. A link would not carry the bearer token.
 * @param path below `device-cloud/`
 */
export async function downloadRoute(path: string, name: string): Promise<void> {
  const answer: unknown = await $.ajax({
    url: `device-cloud/${path}`,
    xhrFields: { responseType: 'blob' },
  });
  const url = URL.createObjectURL(answer as Blob);
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
