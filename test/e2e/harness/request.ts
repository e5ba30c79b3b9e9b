/**
 * As `fetch`, on a connection of its own: Node-RED closes one that has been idle for five seconds, which on a busy
 * machine may be the moment in which it is used again.
 */
export function request(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('connection', 'close');
  return fetch(url, { ...init, headers });
}
