import type { NodeAPI } from 'node-red';
import { DeviceCloudError, SavedCalls, type SavedCall } from '../../src/index';
import type { ClusterView } from '../common/app';
import type { Runtime } from '../common/action';
import { FLEET_TOPIC, type AppConfig } from './app.config';
import { Connection } from './connection';
import { addRunning, type AppNode } from './deployed';
import { deviceText } from '../common/errors';
import { FleetView } from './fleet';
import { dialectOf, readSettings } from './options';
import { memoryOf, type SharedSimulator } from './simulator';
import { openStore } from './store';
import { callOf, Keeper } from './waiting';

export { tidy } from './waiting';

const notJoined = (): Promise<never> =>
  Promise.reject(
    new DeviceCloudError('UNREACHABLE', 'Nothing was sent, since the cluster is not joined yet.'),
  );

const NOT_JOINED: ClusterView = {
  state: 'joining',
  ...{ owned: 0, others: 0 },
  owns: () => false,
  ...{ setSubscribed: notJoined, subscribed: notJoined, lend: notJoined },
};

function setUp(RED: NodeAPI, node: AppNode, def: AppConfig, simulator: SharedSimulator): void {
  const { config, problem } = readSettings(def);
  const reports = new Map<string, (problem: DeviceCloudError) => void>();
  const isShared = config.cluster !== '' && config.service !== 'simulator';
  const store = openStore(RED, node, () => connection.application, isShared);
  const calls = new SavedCalls(store);
  const waiting = {
    calls,
    callOf,
    onOrphan: (saved: SavedCall): void => keeper.giveEnded(saved),
  };
  const onProblem = (late: DeviceCloudError): void => {
    for (const report of reports.values()) report(late);
  };
  const connection: Connection = new Connection({
    RED,
    node,
    config,
    problem,
    simulator,
    store,
    waiting,
    onProblem,
  });
  let users = 0;
  let stopped: Promise<unknown> = Promise.resolve();

  const enter = (): void => {
    if (++users === 1) connection.start();
  };
  const exit = (): void => {
    if (--users > 0) return;
    stopped = Promise.allSettled([stopped, connection.stop()]);
  };

  const { baseUrl, tls, proxy } = config;
  addRunning(node);
  node.users = {};
  node.endpoint = { baseUrl, tls, proxy };
  const isSimulated = config.service === 'simulator';
  const memory = isSimulated ? memoryOf(simulator) : undefined;
  Object.assign(node, dialectOf(config), { isSimulated, isShared, memory });
  node.problem = (api) => connection.problem(api);
  node.client = (api) => connection.client(api);
  node.join = (user, onProblem) => {
    if (onProblem) reports.set(user.id, onProblem);
    if (!(user.id in node.users)) enter();
    node.users[user.id] = user;
  };
  node.leave = (user) => {
    if (node.users[user.id] !== user) return;
    Reflect.deleteProperty(node.users, user.id);
    reports.delete(user.id);
    exit();
  };
  node.borrow = async (api, use) => {
    enter();
    try {
      return await use(await connection.client(api));
    } finally {
      exit();
    }
  };
  const keeper = new Keeper(RED, node, {
    ...{ store, calls, sharing: () => connection.shared },
    isUsable: () => connection.problem('open') === undefined,
    application: () => connection.application,
    titleOf: (chipid) => deviceText(node.fleet()?.name(chipid), chipid),
  });
  node.current = () => connection.current();
  node.store = () => store;
  node.cluster = () => {
    const { shared } = connection;
    if (!isShared) return undefined;
    return shared ?? NOT_JOINED;
  };
  Object.assign(node, { keeper });
  node.fleet = () => connection.current()?.fleet;
  node.waiting = () => {
    const client = connection.current();
    // One of the server API alone has no devices.
    return client?.appid === undefined ? undefined : client.waiting;
  };
  node.pins = (chipid) => connection.current()?.pins.list(chipid) ?? [];
  const view = new FleetView({
    fleet: node.fleet,
    mayPoll: () => connection.problem('open') === undefined,
    onRevision: (revision) => RED.comms.publish(FLEET_TOPIC, { id: node.id, revision }, false),
  });
  node.viewFleet = () => {
    if (Object.keys(node.users).length > 0) view.look();
  };
  node.on('close', (_removed: boolean, done: () => void) => {
    view.close();
    keeper.close();
    void Promise.allSettled([stopped, connection.stop()])
      // Not before: what ends with the client is written, too.
      .then(() => store.close())
      .then(() => done());
  });
}

/** The config node: one application of the service, shared by the nodes that use it. */
export const appRuntime =
  (simulator: SharedSimulator): Runtime<AppConfig, AppNode> =>
  (RED) =>
  (node, def) =>
    setUp(RED, node, def, simulator);
