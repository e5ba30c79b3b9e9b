import { appPath, getRoute } from '../common/editor/routes';
import type { AppChoice, FleetAnswer } from '../app/answers.config';
import { plainAll } from '../common/editor/texts';

/** The applications that run. */
export async function readApplications(): Promise<AppChoice[]> {
  const body: unknown = await getRoute('apps');
  return body as AppChoice[];
}

/** What the editor calls an application. */
export const applicationName = ({ id, name }: AppChoice): string => {
  const node = RED.nodes.node(id);
  return name || (node ? RED.utils.getNodeLabel(node, id) : id);
};

/** Milliseconds from an answer to the next request: what has not changed is not sent again. */
const POLL = 2000;
/** The longest pause after failures. */
const LONGEST = 60_000;

interface FeedUser {
  /** @param ahead milliseconds by which the server's clock is ahead of this one */
  onAnswer(answer: FleetAnswer, ahead: number): void;
  onFailure(failure: unknown): void;
}

/** A server's clock within a few seconds of this one counts as equal, and this one is more precise. */
function clockAhead(date: string | null): number {
  const ahead = Date.parse(date ?? '') - Date.now();
  return Math.abs(ahead) > 3000 ? ahead : 0;
}

/** Asks for the fleet of an application for as long as it is shown. */
export class Feed {
  #revision = 0;
  #failures = 0;
  #timer = 0;
  /** The request whose answer counts. */
  #asking: symbol | undefined;
  readonly #app: string;
  readonly #user: FeedUser;

  constructor(app: string, user: FeedUser) {
    this.#app = app;
    this.#user = user;
  }

  resume(): void {
    this.#failures = 0;
    if (!this.#asking) this.#ask();
  }

  /** The panel is hidden: no request is made, and the answer to the last one is ignored. */
  hide(): void {
    clearTimeout(this.#timer);
    this.#asking = undefined;
  }

  #ask(): void {
    clearTimeout(this.#timer);
    const asking = (this.#asking = Symbol());
    getRoute(`${appPath(this.#app, 'fleet')}?since=${this.#revision}`).then(
      (body: unknown, _status: string, answer: JQueryXHR) => {
        if (this.#asking !== asking) return;
        // Its texts come from a server that may be anyone's.
        const changes = plainAll(body as FleetAnswer);
        this.#revision = changes.revision;
        this.#failures = 0;
        this.#user.onAnswer(changes, clockAhead(answer.getResponseHeader('Date')));
        this.#next(POLL);
      },
      (failure: unknown) => {
        if (this.#asking !== asking) return;
        this.#user.onFailure(failure);
        this.#next(Math.min(LONGEST, POLL * 2 ** this.#failures++));
      },
    );
  }

  #next(pause: number): void {
    this.#asking = undefined;
    this.#timer = window.setTimeout(() => this.#ask(), pause);
  }
}
