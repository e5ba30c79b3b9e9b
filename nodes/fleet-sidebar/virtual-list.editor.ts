interface ListOptions<T> {
  key: (item: T) => string;
  create: () => HTMLElement;
  /** Fills a row, which may have shown another item before. */
  fill: (row: HTMLElement, item: T) => void;
  onSelect?: (key: string | undefined) => void;
  /** Enter, the menu key, a double click, or a click with the other button. */
  onOpen: (item: T) => void;
}

/** Rows above and below the visible ones, so that none is missing while scrolling. */
const SPARE = 6;

/** Changes an attribute if it is another one: an equal one costs the browser as much as a new one. */
function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * A listbox of any number of rows. Only the visible ones exist. One that stays in view keeps its element, so that scrolling by
 * a row fills one row; those that leave are used for those that come. The focus stays on the list, which tells assistive
 * technology the active row.
 */
export class VirtualList<T> {
  readonly element = document.createElement('div');
  readonly #options: ListOptions<T>;
  readonly #space = document.createElement('div');
  /** The rows that exist, by their keys. */
  #rows = new Map<string, HTMLElement>();
  /** Of a row, in pixels. */
  #height: number;
  #items: readonly T[] = [];
  #selected: string | undefined;
  #frame = 0;

  /** @param height of a row, in pixels */
  constructor(height: number, options: ListOptions<T>) {
    this.#height = height;
    this.#options = options;
    $(this.element).attr({ role: 'listbox', tabindex: 0, class: 'device-cloud-list' });
    $(this.#space).attr('role', 'presentation').appendTo(this.element);
    const soon = (): void => {
      if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.render());
    };
    this.element.addEventListener('scroll', soon, { passive: true });
    new ResizeObserver(() => {
      this.#keepSelectedVisible();
      soon();
    }).observe(this.element);
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.#space.addEventListener('click', (event) => void this.#selectAt(event));
    this.#space.addEventListener('dblclick', () => this.#open());
    this.element.addEventListener('contextmenu', (event) => {
      // The key's event is of the list, not of a row.
      if (!this.#selectAt(event) && this.#selected === undefined) return;
      event.preventDefault();
      this.#open();
    });
  }

  /** @param items in their order; a selected item stays selected even if it is not among them */
  show(items: readonly T[]): void {
    this.#items = items;
    this.#space.style.height = `${items.length * this.#height}px`;
    this.render();
  }

  /** Changes the height of the rows. What is at the top stays there. */
  resize(height: number): void {
    if (height === this.#height) return;
    const top = (this.element.scrollTop / this.#height) * height;
    this.#height = height;
    this.show(this.#items);
    this.element.scrollTop = top;
  }

  select(key: string | undefined): void {
    if (key === this.#selected) return;
    this.#selected = key;
    this.render();
    this.#options.onSelect?.(key);
  }

  /** Selects an item, and scrolls to it. */
  go(key: string): void {
    this.#go(this.#items.findIndex((item) => this.#options.key(item) === key));
  }

  /** The item whose row has an element, if it has one. */
  itemAt(element: Element): T | undefined {
    const row = element.closest<HTMLElement>('[role=option]');
    const [key] = [...this.#rows].find(([, each]) => each === row) ?? [];
    return this.#items.find((item) => this.#options.key(item) === key);
  }

  render(): void {
    this.#frame = 0;
    const { key, fill } = this.#options;
    const height = this.#height;
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / height) - SPARE);
    const count = clientHeight === 0 ? 0 : Math.ceil(clientHeight / height) + 2 * SPARE;
    const shown = this.#items.slice(first, first + count);
    const rows = this.#rowsFor(shown.map(key));
    let active = '';
    shown.forEach((item, index) => {
      const row = rows[index];
      if (!row) return;
      const isSelected = key(item) === this.#selected;
      row.style.top = `${(first + index) * height}px`;
      setAttribute(row, 'role', 'option');
      setAttribute(row, 'id', `device-cloud-row-${key(item)}`);
      setAttribute(row, 'aria-setsize', String(this.#items.length));
      setAttribute(row, 'aria-posinset', String(first + index + 1));
      setAttribute(row, 'aria-selected', String(isSelected));
      if (isSelected) active = row.id;
      fill(row, item);
    });
    if (active === '') this.element.removeAttribute('aria-activedescendant');
    else setAttribute(this.element, 'aria-activedescendant', active);
  }

  /** Rows for these keys, in this order on the page, too: a screen reader reads them so. */
  #rowsFor(keys: readonly string[]): HTMLElement[] {
    const wanted = new Set(keys);
    const free = [...this.#rows].flatMap(([key, row]) => (wanted.has(key) ? [] : [row]));
    for (const row of free) row.remove();
    let next = this.#space.firstElementChild;
    const rows = keys.map((key) => {
      const row = this.#rows.get(key) ?? free.pop() ?? this.#options.create();
      if (row === next) next = row.nextElementSibling;
      else this.#space.insertBefore(row, next);
      return [key, row] as const;
    });
    this.#rows = new Map(rows);
    return rows.map(([, row]) => row);
  }

  #selectAt({ target }: Event): boolean {
    const item = this.itemAt(target as HTMLElement);
    if (item !== undefined) this.select(this.#options.key(item));
    return item !== undefined;
  }

  #open(): void {
    const item = this.#items[this.#indexOfSelected()];
    if (item !== undefined) this.#options.onOpen(item);
  }

  #indexOfSelected(): number {
    return this.#items.findIndex((item) => this.#options.key(item) === this.#selected);
  }

  #onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.#height) - 1);
    const last = this.#items.length - 1;
    const at = this.#indexOfSelected();
    const targets: Partial<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: last,
    };
    const target = targets[event.key];
    if (event.key === 'Enter' && at >= 0) this.#open();
    else if (event.key === 'Escape' && this.#selected !== undefined) this.select(undefined);
    else if (target !== undefined && last >= 0) this.#go(Math.min(last, Math.max(0, target)));
    else return;
    // Not for the editor, whose keys move and delete nodes.
    event.preventDefault();
    event.stopPropagation();
  }

  #go(index: number): void {
    const item = this.#items[index];
    if (item === undefined) return;
    this.#reveal(index);
    this.select(this.#options.key(item));
  }

  #reveal(index: number): void {
    const height = this.#height;
    const { scrollTop, clientHeight } = this.element;
    const lowest = (index + 1) * height - clientHeight;
    if (scrollTop < lowest) this.element.scrollTop = lowest;
    else if (scrollTop > index * height) this.element.scrollTop = index * height;
  }

  /** The details of a device take their place from the list, which must not hide its row. */
  #keepSelectedVisible(): void {
    const index = this.#indexOfSelected();
    const wasVisible = this.#selected !== undefined && this.#rows.has(this.#selected);
    if (index >= 0 && wasVisible && this.element.clientHeight > 0) this.#reveal(index);
  }
}
