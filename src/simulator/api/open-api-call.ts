import type { Params } from '../../api/signing';
import type { Device } from '../devices/device';
import { integer } from './params';
import type { Route, Segments } from './routes';
import type { Service } from '../service/service';

/** A call of interface B whose sign is right. */
export interface OpenApiCall {
  readonly service: Service;
  readonly params: Params;
  readonly segments: Segments;
  readonly signal: AbortSignal;
}

/** Carries out a call. The result is the JSON of status 200; every other one is a Refusal. */
export type OpenApiRun = (call: OpenApiCall) => unknown;

export type OpenApiRoute = Route<OpenApiRun>;

/** The device named by the path's `:chipid`. @throws Refusal 400 or 404 */
export const pathDevice = ({ service, segments }: OpenApiCall): Device =>
  service.device(integer('chipid', segments['chipid'] ?? ''));
