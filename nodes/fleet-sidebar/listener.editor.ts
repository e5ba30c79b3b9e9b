import type { LISTEN_TYPE } from '../listen/listen.config';

const LISTEN = 'device-cloud-listen' satisfies typeof LISTEN_TYPE;

/** Puts a listener for a device at the cursor, as the palette would, but filled in. */
export function insertListener(app: string, chipid: string): void {
  const { defaults } = RED.nodes.getType(LISTEN);
  const usual = Object.entries(defaults).map(([property, { value }]) => [property, value] as const);
  const filled = { ...Object.fromEntries(usual), app, devices: 'list', chipids: [chipid] };
  const place = { x: 0, y: 0, z: '', wires: [[]] };
  RED.view.importNodes([{ id: 'listener', type: LISTEN, ...filled, ...place }], {
    generateIds: true,
  });
}
