import type { Node, NodeStatus } from 'node-red';
import { failureStatus, STATUS } from './status';

/** Shows what a node's calls do: a blue dot while any runs, nothing after a success, red after a failure. */
export interface CallStatus {
  begin(): void;
  succeeded(): void;
  failed(error: unknown): void;
  /** Nothing is shown from here on. */
  close(): void;
}

export function showCalls(node: Node): CallStatus {
  let running = 0;
  let shown: NodeStatus = STATUS.none;
  let closed = false;

  // Only a change is worth a message to every open editor.
  const show = (status: NodeStatus): void => {
    if (closed || status === shown) return;
    shown = status;
    node.status(status);
  };

  return {
    begin() {
      running++;
      show(STATUS.calling);
    },
    succeeded() {
      if (--running <= 0) show(STATUS.none);
    },
    failed(error) {
      running = Math.max(0, running - 1);
      show(failureStatus(error));
    },
    close() {
      closed = true;
    },
  };
}
