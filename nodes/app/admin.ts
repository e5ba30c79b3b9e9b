import type { NodeAPI } from 'node-red';
import type { Handler, Handlers } from '../common/admin/admin-routes';
import { toProblem } from '../common/admin/problem';
import { toChoices, type DeviceChoice } from './fleet/device-choices';
import { findApp } from '../common/app';
import { pushRoute, refreshRoute } from './fleet/device-routes';
import { diagnose } from './fleet/diagnostics';
import { explainRoute } from './explain/explain-route';
import { appsRoute, fleetRoute } from './fleet/fleet-routes';
import { mayWriteFlows } from '../common/admin/flow-rights';
import { addressHider } from './deployed/hidden-addresses';
import type { SharedSimulator } from './connection/shared-simulator';
import { testApp, type ApiResult, type TestResult } from './connection-test/test-app';
import { readTestRequest, type TestRequest } from './connection-test/test-request';

/** Seconds the editor waits for a list or a test. */
const TIMEOUT = 10;

async function readDevices(RED: NodeAPI, id: string): Promise<DeviceChoice[]> {
  // Works for a config node that no other node uses, too.
  const app = findApp(RED, id);
  return app.borrow('open', async (client) => {
    const { body } = await client.devices({ timeout: TIMEOUT });
    return toChoices(body, client);
  });
}

/** Reads device lists, one at a time for each application: even users who may only read can ask often. */
function deviceReader(RED: NodeAPI): (id: string) => Promise<DeviceChoice[]> {
  const reading = new Map<string, Promise<DeviceChoice[]>>();
  return (id) => {
    const shared = reading.get(id) ?? readDevices(RED, id).finally(() => reading.delete(id));
    reading.set(id, shared);
    return shared;
  };
}

/** A problem in which `${NAME}` replaces the addresses that it contains, unless the user may see them. */
async function readableProblem(
  RED: NodeAPI,
  id: string,
  error: unknown,
  maySeeVariables: () => Promise<boolean>,
): Promise<ReturnType<typeof toProblem>> {
  const problem = toProblem(error);
  const hide = await addressHider(RED, id, maySeeVariables);
  return { ...problem, message: hide(problem.message) };
}

/** The same for the result of a test. */
async function readableResult(
  RED: NodeAPI,
  id: string | undefined,
  result: TestResult,
  maySeeVariables: () => Promise<boolean>,
): Promise<TestResult> {
  const hide = await addressHider(RED, id, maySeeVariables);
  const readable = (found: ApiResult | null): ApiResult | null => {
    if (found?.message === undefined) return found;
    const { explanation } = found;
    const shown = explanation && { ...explanation, curl: hide(explanation.curl) };
    return { ...found, message: hide(found.message), ...(shown ? { explanation: shown } : {}) };
  };
  const { openApi, serverApi } = result;
  return { ...result, openApi: readable(openApi), serverApi: readable(serverApi) };
}

/** Only our own editor asks for ages: the route's answer is public, and has no more than it says. */
const withoutAge = ({
  chipid,
  name,
  latest,
  vertype,
}: DeviceChoice): Omit<DeviceChoice, 'age'> => ({
  ...{ chipid, name, latest, vertype },
});

/** Lists the online devices of an application. */
function devicesRoute(RED: NodeAPI): Handler {
  const devicesOf = deviceReader(RED);
  return (request, response) => {
    const id = String(request.params['id']);
    devicesOf(id)
      .then(
        (devices) => response.json('ages' in request.query ? devices : devices.map(withoutAge)),
        async (error: unknown) => {
          const may = (): Promise<boolean> => mayWriteFlows(RED, request);
          response.status(502).json({ error: await readableProblem(RED, id, error, may) });
        },
      )
      .catch((error: unknown) => response.status(500).json({ error: toProblem(error) }));
  };
}

/** Tries unsaved settings. */
const testRoute =
  (RED: NodeAPI, simulator: SharedSimulator): Handler =>
  (request, response) => {
    const audit = (more: object): void => {
      const entry = { level: RED.log.AUDIT, event: 'device-cloud.apps.test', ...more };
      RED.log.audit(entry, request);
    };
    let settings: TestRequest;
    try {
      settings = readTestRequest(request.is('json') ? request.body : undefined);
    } catch (error) {
      audit({ error: 'invalid_input' });
      response.status(400).json({ error: toProblem(error) });
      return;
    }
    audit({ id: settings.id });
    const may = (): Promise<boolean> => mayWriteFlows(RED, request);
    testApp(RED, settings, { simulator, mayWriteFlows: may, timeout: TIMEOUT })
      .then((result) => readableResult(RED, settings.id, result, may))
      .then(
        (result) => response.json(result),
        (error: unknown) => response.status(500).json({ error: toProblem(error) }),
      );
  };

/** What the editor copies for an issue. */
const diagnosticsRoute =
  (RED: NodeAPI): Handler =>
  (_request, response) => {
    diagnose(RED).then(
      (found) => response.json(found),
      (error: unknown) => response.status(500).json({ error: toProblem(error) }),
    );
  };

type Name = 'devices' | 'test' | 'explain' | 'apps' | 'fleet' | 'diagnostics' | 'refresh' | 'push';

/** What answers the routes of the editor. */
export const appRoutes =
  (simulator: SharedSimulator) =>
  (RED: NodeAPI): Handlers<Name> => ({
    devices: devicesRoute(RED),
    test: testRoute(RED, simulator),
    explain: explainRoute(RED),
    apps: appsRoute(RED),
    fleet: fleetRoute(RED),
    diagnostics: diagnosticsRoute(RED),
    refresh: refreshRoute(RED),
    push: pushRoute(RED),
  });
