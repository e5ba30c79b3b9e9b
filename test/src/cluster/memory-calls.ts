import {
  StoreError,
  type CallStore,
  type NewCall,
  type StoredCall,
} from '../../../src/cluster/store';

interface Line {
  id: string;
  isOnline: boolean;
  hasBegun: boolean;
  order: number;
}

interface Call {
  call: NewCall;
  member: string;
  order: number;
  at: number;
}

/** The part of a store in memory that has calls whose commands wait. */
export class MemoryCalls implements CallStore {
  readonly #calls = new Map<string, Call>();
  readonly #marks = new Map<string, string>();
  readonly #lines = new Map<string, Line[]>();
  readonly #left = new Set<string>();
  #top = 0;

  constructor(
    private readonly now: () => number,
    private readonly members: () => ReadonlyMap<string, unknown>,
    private readonly isSettled: () => boolean,
  ) {}

  wipe(): void {
    for (const each of [this.#calls, this.#marks, this.#lines, this.#left]) each.clear();
    this.#top = 0;
  }

  add: CallStore['add'] = (member, call, most) => {
    const { id, isOnline, devices, before } = call;
    if (this.#left.has(id)) return Promise.resolve({ order: 0, full: [] });
    const known = this.#calls.get(id);
    if (known)
      return Promise.resolve({ order: known.member === member ? known.order : 0, full: [] });
    const order = before?.order ?? this.#top + 1;
    this.#top = Math.max(this.#top, order);
    this.#calls.set(id, { call, member, order, at: this.now() - (before?.age ?? 0) });
    const full: string[] = [];
    for (const [chipid, mark] of devices) {
      if (mark !== '') this.#marks.set(`${id}/${chipid}`, mark);
      if (mark !== '' && mark !== '"begun"') continue;
      const line = this.#lines.get(chipid) ?? [];
      if (mark === '' && line.length >= most) full.push(chipid);
      else line.push({ id, isOnline, hasBegun: mark !== '', order });
      this.#lines.set(
        chipid,
        line.sort((a, b) => a.order - b.order),
      );
    }
    return Promise.resolve({ order, full });
  };

  mark: CallStore['mark'] = (member, id, chipid, mark) => {
    const isCancelled = mark === '"cancelled"';
    const call = this.#calls.get(id);
    if (!call && !this.isSettled())
      return Promise.reject(new StoreError('it may have lost the command', false));
    if (!call || (!isCancelled && call.member !== member)) return Promise.resolve('moved');
    const known = this.#marks.get(`${id}/${chipid}`);
    if (known !== undefined && isCancelled) return Promise.resolve('late');
    if (known === '"cancelled"' && mark === '"begun"') return Promise.resolve('cancelled');
    this.#marks.set(`${id}/${chipid}`, mark);
    if (mark === '"begun"')
      for (const each of this.#lines.get(chipid) ?? []) each.hasBegun ||= each.id === id;
    else this.#leave(chipid, id);
    return Promise.resolve('written');
  };

  remove: CallStore['remove'] = (member, id, chipids) => {
    const call = this.#calls.get(id);
    if (call && call.member !== member) return Promise.resolve(false);
    this.#left.add(id);
    if (!this.#calls.delete(id)) return Promise.resolve(false);
    for (const chipid of chipids) {
      this.#marks.delete(`${id}/${chipid}`);
      this.#leave(chipid, id);
    }
    return Promise.resolve(true);
  };

  turn: CallStore['turn'] = (member, chipid, isListed) => {
    const ids: string[] = [];
    if (!this.isSettled()) return Promise.resolve({ ids, other: 'begun' });
    for (const { id, isOnline, hasBegun } of this.#lines.get(chipid) ?? []) {
      if (this.#calls.get(id)?.member === member) {
        if (!hasBegun) ids.push(id);
      } else if (!isListed || isOnline)
        return Promise.resolve({ ids, other: hasBegun ? 'begun' : 'waits' });
    }
    return Promise.resolve({ ids, other: 'none' });
  };

  list: CallStore['list'] = () =>
    Promise.resolve(
      [...this.#calls].map(([id, { call, member, order, at }]): StoredCall => ({
        ...{ id, member, order, age: this.now() - at, text: call.text },
      })),
    );

  waiting: CallStore['waiting'] = () =>
    Promise.resolve(
      new Map(
        [...this.#lines].map(([chipid, line]) => [
          chipid,
          line.filter(({ hasBegun }) => !hasBegun).map(({ id }) => id),
        ]),
      ),
    );

  adopt: CallStore['adopt'] = (member, ids) => {
    const adopted = this.isSettled()
      ? ids.filter((id) => {
          const call = this.#calls.get(id);
          return call && call.member !== member && !this.members().has(call.member);
        })
      : [];
    for (const id of adopted) Object.assign(this.#calls.get(id)!, { member });
    return Promise.resolve(adopted);
  };

  read: CallStore['read'] = (wanted) =>
    Promise.resolve(
      wanted.map(({ id, chipids }) => {
        const found = this.#calls.get(id);
        const devices = chipids.map(
          (chipid) => [chipid, this.#marks.get(`${id}/${chipid}`) ?? ''] as const,
        );
        return found && { what: found.call.what, devices };
      }),
    );

  #leave(chipid: string, id: string): void {
    const left = (this.#lines.get(chipid) ?? []).filter((each) => each.id !== id);
    if (left.length === 0) this.#lines.delete(chipid);
    else this.#lines.set(chipid, left);
  }
}
