/**
 * Gathers what is asked for within a moment into one run, so that requests which miss the cache together share its calls.
 * Items of different keys never share a run.
 */
export class Gather<K, I, R> {
  readonly #run: (key: K, items: readonly I[]) => Promise<R>;
  readonly #momentMs: number;
  readonly #open = new Map<K, { readonly items: I[]; readonly result: Promise<R> }>();

  constructor(momentMs: number, run: (key: K, items: readonly I[]) => Promise<R>) {
    this.#momentMs = momentMs;
    this.#run = run;
  }

  /** The result of the run that the item became part of. */
  add(key: K, item: I): Promise<R> {
    const open = this.#open.get(key) ?? this.#start(key);
    open.items.push(item);
    return open.result;
  }

  #start(key: K): { items: I[]; result: Promise<R> } {
    const items: I[] = [];
    const moment = new Promise<void>((resolve) => setTimeout(resolve, this.#momentMs));
    const result = moment.then(() => {
      this.#open.delete(key);
      return this.#run(key, items);
    });
    const run = { items, result };
    this.#open.set(key, run);
    return run;
  }
}
