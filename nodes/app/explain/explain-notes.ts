import type { Explanation, ExplainWarning } from '../../../src/index';

/** Notes on a node's request, besides those of the client on the call. */
export interface NodeNote {
  /**
   * - `placeholder`: a property is read only for users who may change flows, or only once it is deployed.
   * - `many`: the same is sent to several devices.
   * - `pulse`: a second request sets the opposite level.
   * - `request`: the node waits for the reply on the channel of the device.
   * - `latest`: sent only if no upload of the device is known.
   * - `simulator`: the address is that of the built-in simulator.
   */
  code: 'placeholder' | 'many' | 'pulse' | 'request' | 'latest' | 'simulator';
  /** In English; the editor says it by `code` and `values`. */
  message: string;
  values?: Readonly<Record<string, string | number>>;
}

/** The answer of the route. */
export interface NodeExplanation extends Omit<Explanation, 'warnings'> {
  warnings: (ExplainWarning | NodeNote)[];
}

/** The placeholder of a value that is not read. */
export const placeholderNote = (property: string, value: string): NodeNote => ({
  code: 'placeholder',
  message:
    `The property "${property}" is not read here: environment variables, contexts and expressions are read ` +
    `only for users who may change flows, and a flow's context only once the node is deployed. "${value}" stands in its place.`,
  values: { property, value },
});

export const manyNote = (count: number): NodeNote => ({
  code: 'many',
  message: `The same is sent to each of ${count} devices. This is the request to the first.`,
  values: { count },
});

export const pulseNote = (duration: number, path: string): NodeNote => ({
  code: 'pulse',
  message: `After ${duration} ms a second request sets the opposite level: ${path}`,
  values: { duration, path },
});

export const requestNote = (): NodeNote => ({
  code: 'request',
  message:
    'Before this request the node opens the channel of the device, on which it waits for the reply.',
});

export const latestNote = (): NodeNote => ({
  code: 'latest',
  message: 'The node sends this request only if no upload of the device is known yet.',
});

export const simulatorNote = (): NodeNote => ({
  code: 'simulator',
  message:
    'The built-in simulator answers on this machine only, and only while a node uses it. Its keys are those ' +
    'that the command device-cloud-simulator prints.',
});
