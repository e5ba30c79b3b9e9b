import type { Params } from '../../api/signing';
import type { Device } from '../devices/device';
import { isInteger } from '../transport/params';
import type { Route, Segments } from './routes';
import type { Service } from '../service/service';
import type { Refusal } from '../transport/refusal';

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

/**
 * The device named by the path's `:chipid`.
 * @param noDevice makes the refusal of a device that does not exist; default: that of most calls
 * @throws Refusal
 */
export function pathDevice(
  { service, segments }: OpenApiCall,
  noDevice?: (chipid: string) => Refusal,
): Device {
  const { chipid = '' } = segments;
  if (!isInteger(chipid)) throw service.dialect.notInteger('chipid', true);
  return service.device(chipid, noDevice);
}
