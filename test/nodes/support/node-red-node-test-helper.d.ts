// Neither comes with types; only what these tests use is described.

declare module 'node-red-node-test-helper' {
  import type { Node, NodeAPI } from 'node-red';

  interface Answer {
    status: number;
    text: string;
    body: unknown;
    headers: Record<string, string>;
  }

  interface Request extends PromiseLike<Answer> {
    send(body: object | string): Request;
    set(name: string, value: string): Request;
    set(headers: Readonly<Record<string, string>>): Request;
  }

  interface Helper {
    load(
      modules: readonly ((RED: NodeAPI) => void)[],
      flow: readonly object[],
      credentials: object,
    ): Promise<void>;
    setFlows(flow: readonly object[], type: string, credentials: object): Promise<void>;
    unload(): Promise<void>;
    getNode(id: string): Node | null;
    startServer(): Promise<void>;
    stopServer(): Promise<void>;
    /** Its spies, which keep what they were called with. */
    _sandbox: { resetHistory(): void };
    request(): Record<'get' | 'post' | 'put', (path: string) => Request>;
  }

  const helper: Helper;
  export = helper;
}

declare module '@node-red/util/lib/events' {
  import type { EventEmitter } from 'node:events';
  const events: EventEmitter;
  export = events;
}

declare module '@node-red/nodes/core/sequence/17-split.js' {
  import type { NodeAPI } from 'node-red';
  const register: (RED: NodeAPI) => void;
  export = register;
}

declare module '@node-red/runtime/lib/nodes/context' {
  const context: { init(settings: object): void; load(): Promise<unknown> };
  export = context;
}

declare module '@node-red/nodes/core/common/91-global-config.js' {
  import type { NodeAPI } from 'node-red';
  const register: (RED: NodeAPI) => void;
  export = register;
}

declare module '@node-red/nodes/core/network/05-tls.js' {
  import type { NodeAPI } from 'node-red';
  const register: (RED: NodeAPI) => void;
  export = register;
}

declare module '@node-red/nodes/core/network/06-httpproxy.js' {
  import type { NodeAPI } from 'node-red';
  const register: (RED: NodeAPI) => void;
  export = register;
}

declare module '@node-red/runtime/lib/flows' {
  import type { Node } from 'node-red';
  const flows: {
    stopFlows(): Promise<void>;
    startFlows(): Promise<void>;
    setFlows(flows: readonly object[], credentials: null, type: string): Promise<string>;
    get(id: string): Node | null;
  };
  export = flows;
}

declare module '@node-red/runtime/lib/flows/util' {
  export function mapEnvVarProperties(
    object: object,
    property: string,
    flow: { getSetting(name: string): unknown },
    config: object,
  ): void;
}
