import { defineAction } from '../common/action';
import { performPlan } from '../common/device-call';
import { CHOICES, DEFAULTS, INPUTS, type ServerConfig, type ServerInput } from './server.config';

const CALLS = {
  devices: 'serverDevices',
  device: 'serverDevice',
  update: 'serverUpdate',
  passthrough: 'serverPassthrough',
  uploads: 'serverUploads',
} as const;

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Pagination is optional and its form is not shown (section 4.1): given parameters are passed through. */
const pagination = (parameters: object): object =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => !isEmpty(value)));

/** The header-signed server API (interface A). */
export const action = defineAction<ServerConfig, ServerInput>({
  api: 'server',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: (config) => INPUTS[config.operation],
  perform(call) {
    const { config, inputs } = call;
    const { operation } = config;
    const { page, count } = inputs;
    const args =
      operation === 'devices'
        ? [pagination({ page, count })]
        : INPUTS[operation].map((name) => inputs[name]);
    return performPlan(call, { call: CALLS[operation], args });
  },
});
