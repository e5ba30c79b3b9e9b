import type { Progress } from './progress';

/** A command that waits for its turn. */
export interface WaitingCommand {
  start: () => void;
  refuse: (why: string) => void;
  progress: Progress | undefined;
  /** Whether it counts towards the limit of the queue. */
  counted: boolean;
  /** The place that was last shown to its caller. */
  ahead: number;
}

/** The commands that wait for their turn at one device, in order, and their callers' view of it. */
export class WaitingCommands {
  #commands: WaitingCommand[] = [];
  #counted = 0;
  /** The number of commands whose callers are shown their place. */
  #watched = 0;

  get length(): number {
    return this.#commands.length;
  }

  /** The number of commands that count towards the limit of the queue. */
  get counted(): number {
    return this.#counted;
  }

  add(command: WaitingCommand): void {
    this.#commands.push(command);
    if (command.counted) this.#counted++;
    if (command.progress) this.#watched++;
  }

  /** Removes one of them. */
  remove(command: WaitingCommand): void {
    this.#removeAt(this.#commands.indexOf(command));
  }

  /** Removes the first. */
  shift(): WaitingCommand | undefined {
    return this.#removeAt(0);
  }

  /** Removes all. */
  clear(): WaitingCommand[] {
    const all = this.#commands;
    this.#commands = [];
    this.#counted = this.#watched = 0;
    return all;
  }

  /**
   * Shows each caller the place of its command if it has changed. A caller may add and remove commands.
   * @param running how many commands are ahead of all these
   */
  showPlaces(running: number): void {
    if (this.#watched === 0) return;
    for (const command of [...this.#commands]) {
      const index = command.progress ? this.#commands.indexOf(command) : -1;
      const ahead = index + running;
      if (index < 0 || ahead === command.ahead) continue;
      command.ahead = ahead;
      command.progress?.({ state: 'waiting', ahead });
    }
  }

  #removeAt(index: number): WaitingCommand | undefined {
    if (index < 0) return undefined;
    const [command] = this.#commands.splice(index, 1);
    if (command?.counted) this.#counted--;
    if (command?.progress) this.#watched--;
    return command;
  }
}
