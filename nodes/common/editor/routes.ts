/*
 * Requests to the admin routes of this package. Their paths begin neither with `/` nor with `.`, so that Node-RED adds its
 * root and the bearer token. Callers trust the type of an answer, since the routes are the package's own.
 */

/** Reads from a route. @param path below `device-cloud/` */
export const getRoute = (path: string): JQueryXHR => $.getJSON(`device-cloud/${path}`);

/** Sends JSON to a route. @param path below `device-cloud/` */
export const postRoute = (path: string, data: object): JQueryXHR =>
  $.ajax({
    url: `device-cloud/${path}`,
    method: 'POST',
    contentType: 'application/json',
    data: JSON.stringify(data),
  });
