import type { IsolatedListener } from '../channel/listener';
import type { Deliver } from '../recovery/options';

/** A listener of a device, and where its uploads are delivered. */
export interface Place {
  readonly listener: IsolatedListener;
  readonly deliver: Deliver;
}
