import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { DeviceCloudClient } from '../../src/client';
import { DeviceCloudError } from '../../src/errors';
import { findApp, type AppNode } from '../app/app-node';
import { createFaultLog } from '../common/fault-log';
import { numberOf } from '../common/number';
import { failureStatus } from '../common/status';
import { createStatusLine } from '../common/status-line';
import { changeSubscriptions } from './dynamic';
import { LISTEN_TYPE, type ListenConfig } from './listen.config';
import { listenStatus } from './listen-status';
import { listedDevice } from './listed-device';
import { uploadMessage } from './message';
import { watchOnline } from './online';
import { contextPositions, memoryPositions, type Positions } from './positions';
import {
  createSubscriptions,
  type Listener,
  type Recover,
  type Subscriptions,
} from './subscriptions';

type ListenNode = Node;

/** Milliseconds until a listener that could not start tries again by itself. */
const RETRY = 10_000;

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

const closed = (): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', 'Nothing was changed, since the listener was closed.');

/** A fault may end as a sentence already. */
const faultLine = (chipid: string, fault: string): string =>
  `Device ${chipid}: ${fault.replace(/\.$/, '')}.`;

const recoverBy = (app: AppNode, positions: Positions): Recover => ({
  ...{ encoding: app.historyEncoding, zone: app.historyZone, positions },
});

/** Where the positions are kept that recovery begins from; undefined without recovery. */
async function positionsOf(
  node: ListenNode,
  config: ListenConfig,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Promise<Positions | undefined> {
  if (config.recover === 'off') return undefined;
  return config.recover === 'restart' ? contextPositions(node, failed, signal) : memoryPositions();
}

/** Joins the channels that the properties name. @returns stops what it started */
function listenTo(
  node: ListenNode,
  config: ListenConfig,
  client: DeviceCloudClient,
  subscriptions: Subscriptions,
  failed: (error: unknown) => void,
): () => void {
  if (config.devices === 'online') {
    const found = (chipids: string[]): void => subscriptions.replace(chipids);
    return watchOnline(client, numberOf(config.refresh, 60), found, failed);
  }
  if (config.devices !== 'dynamic') {
    for (const chipid of (config.chipids as string[] | undefined) ?? []) {
      try {
        subscriptions.add(listedDevice(chipid));
      } catch (error) {
        // The others are listened to all the same.
        node.error(asError(error));
      }
    }
  }
  return () => undefined;
}

function runListener(RED: NodeAPI, node: ListenNode, config: ListenConfig): void {
  const app = findApp(RED, config.app);
  const status = createStatusLine(node);
  const log = createFaultLog((line) => node.warn(line));
  const datatype = (config.datatype as ListenConfig['datatype'] | undefined) ?? 'auto-detect';
  let subscriptions: Subscriptions | undefined;
  let positions: Positions | undefined;
  let stop: (() => void) | undefined;
  let failure: unknown;
  let retry: NodeJS.Timeout | undefined;
  const closing = new AbortController();

  const failed = (error: unknown): void => {
    const { message } = asError(error);
    log.write(message, message);
    if (!subscriptions || subscriptions.chipids().length === 0) status.show(failureStatus(error));
  };

  const start = (client: DeviceCloudClient, recover: Recover | undefined): void => {
    if (closing.signal.aborted) return;
    const listener: Listener = {
      onUpload(upload) {
        const { message, error } = uploadMessage(upload, datatype);
        if (error) node.error(error, message);
        else node.send(message);
      },
      onChange: () => status.change(() => listenStatus(opened.states())),
      onFault: (chipid, fault, kind) => log.write(kind, faultLine(chipid, fault)),
    };
    const opened = createSubscriptions(client, listener, recover);
    subscriptions = opened;
    stop = listenTo(node, config, client, opened, failed);
    status.change(() => listenStatus(opened.states()));
  };

  const connect = async (): Promise<void> => {
    try {
      if (app instanceof DeviceCloudError) throw app;
      const client = await app.client('open');
      positions = await positionsOf(node, config, failed, closing.signal);
      start(client, positions && recoverBy(app, positions));
    } catch (error) {
      if (closing.signal.aborted) return;
      failure = error;
      failed(error);
      // What is no matter of the configuration, such as a simulator that could not start, may pass.
      if (app instanceof DeviceCloudError || app.problem('open')) return;
      clearTimeout(retry);
      retry = setTimeout(() => void connectAgain(), RETRY);
    }
  };

  if (!(app instanceof DeviceCloudError)) app.join(node);
  let connected = connect();
  /** One attempt at a time, and none once it has worked. */
  const connectAgain = (): Promise<void> => {
    connected = connected.then(() =>
      subscriptions || closing.signal.aborted ? undefined : connect(),
    );
    return connected;
  };

  if (config.devices === 'dynamic') {
    node.on('input', (msg, send, done) => {
      connectAgain()
        .then(() => {
          if (closing.signal.aborted) throw closed();
          if (!subscriptions) throw asError(failure);
          const answer = changeSubscriptions(subscriptions, msg);
          if (answer) send(answer);
        })
        .then(
          () => done(),
          (error: unknown) => done(asError(error)),
        )
        // An error out of `done` itself must not end the process.
        .catch((error: unknown) => node.error(asError(error)));
    });
  }

  node.on('close', (_removed: boolean, done: () => void) => {
    closing.abort();
    clearTimeout(retry);
    status.close();
    stop?.();
    subscriptions?.close();
    log.close();
    if (!(app instanceof DeviceCloudError)) app.leave(node);
    (positions?.flush() ?? Promise.resolve()).then(done, done);
  });
}

/** Emits each upload of its devices live (interface C). */
export = function (RED: NodeAPI): void {
  RED.nodes.registerType(LISTEN_TYPE, function (this: ListenNode, def: NodeDef & ListenConfig) {
    RED.nodes.createNode(this, def);
    runListener(RED, this, def);
  });
};
