import type { NodeAPI, NodeDef } from 'node-red';
import { APP_TYPE } from '../../common/app-type';
import type { AppConfig } from '../app.config';
import { findAppNode, type AppNode } from '../app-node';

/** A config node that runs. */
export interface RunningApp {
  /** As it was saved, with each `${NAME}` in it. */
  saved: Pick<NodeDef, 'id' | 'type'> & Partial<NodeDef & AppConfig>;
  node: AppNode;
}

/** All applications that run. */
export function runningApps(RED: NodeAPI): RunningApp[] {
  const apps: RunningApp[] = [];
  RED.nodes.eachNode((saved: RunningApp['saved']) => {
    const node = saved.type === APP_TYPE ? findAppNode(RED, saved.id) : undefined;
    if (node) apps.push({ saved, node });
  });
  return apps;
}

export const serviceOf = ({ service }: RunningApp['saved']): AppConfig['service'] =>
  service === 'simulator' ? 'simulator' : 'cloud';
