import type { Answer, Incoming } from '../transport/incoming';
import { checkOpenApiSign } from './open-api-sign';
import { cloudRoutes } from './open-api-cloud';
import { DEVICE_ROUTES } from './open-api-device';
import { readForm, readParams } from './params';
import { Refusal } from '../transport/refusal';
import { findRoute, hasPath } from './routes';
import type { Service } from '../service/service';

export const OPEN_API = '/openapi/';

/** Interface B (section 4.2): path, then sign, then parameters, then device. */
export function createOpenApi(service: Service): (request: Incoming) => Promise<Answer> {
  const routes = [...cloudRoutes(service.settings), ...DEVICE_ROUTES];

  const checkSlash = ({ path, query }: Incoming): void => {
    if (path.endsWith('/') || !hasPath(routes, `${path.slice(OPEN_API.length)}/`)) return;
    const location = query === '' ? `${path}/` : `${path}/?${query}`;
    throw new Refusal(301, 'the path has to end with /', { location });
  };

  return async (request) => {
    const { method, path, query, headers, body, signal } = request;
    checkSlash(request);
    const { run, segments } = findRoute(routes, method, path.slice(OPEN_API.length));
    const form = method === 'POST' ? readForm(headers['content-type'], body) : '';
    const params = readParams(query, form);
    checkOpenApiSign(service, method, readParams(query), params, 's');
    return { status: 200, body: await run({ service, params, segments, signal }) };
  };
}
