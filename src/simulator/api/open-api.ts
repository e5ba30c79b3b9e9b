import type { Answer, Incoming } from '../transport/incoming';
import { cloudRoutes } from './open-api-cloud';
import { DEVICE_ROUTES } from './open-api-device';
import { readForm, readParams } from '../transport/params';
import { Refusal } from '../transport/refusal';
import { findRoute, hasPath } from './routes';
import type { Service } from '../service/service';

export const OPEN_API = '/openapi/';

/** Interface B (section 4.2): path, then sign, then parameters, then device. */
export function createOpenApi(service: Service): (request: Incoming) => Promise<Answer> {
  const routes = [...cloudRoutes(service.settings), ...DEVICE_ROUTES];
  const { dialect } = service;

  const checkSlash = ({ path, query }: Incoming): void => {
    if (path.endsWith('/') || !hasPath(routes, `${path.slice(OPEN_API.length)}/`)) return;
    const location = query === '' ? `${path}/` : `${path}/?${query}`;
    throw new Refusal(301, 'the path has to end with /', { location });
  };

  return async (request) => {
    const { method, path, query, headers, body, signal } = request;
    checkSlash(request);
    const { run, segments } = findRoute(
      routes,
      method,
      path.slice(OPEN_API.length),
      dialect.noPath,
    );
    const form = method === 'POST' ? readForm(headers['content-type'], body) : '';
    const params = readParams(query, form);
    dialect.checkSign(service, { method, query: readParams(query), params, of: 'open-api' });
    return { status: 200, body: await run({ service, params, segments, signal }) };
  };
}
