import type { Basis } from '../../quoting/quote-basis.ts';
import type { ApiProcess } from './api-process.ts';
import { indexOf } from './pool-reader.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A frame as its reader got it. */
export interface TakenFrame {
  readonly at: number;
  /** The block that is being built. */
  readonly block: bigint;
  /** When its process says that it was made, Unix milliseconds. */
  readonly madeAtMs: number;
  /** By index, what is paid for the first level of each pool: its price. */
  readonly prices: ReadonlyMap<number, bigint>;
}

export interface LevelReaderOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly basis: Basis;
  readonly target: () => ApiProcess | undefined;
  readonly onFrame: (reader: LevelReader, frame: TakenFrame) => void;
}

const PAIR = /"pamm":"(0x[0-9a-f]{40})","pairs":\[\{[^\]]*?"amountOut":"(0x[0-9a-f]+)"/g;
const HEAD = /"blockNumber":(\d+),"timestamp":(\d+)/;

/** A taker who reads price levels over a WebSocket, and connects again whenever a connection ends. */
export class LevelReader {
  readonly options: LevelReaderOptions;
  isSlow = false;
  isAway = false;
  process: ApiProcess | undefined;
  /** Counts connections. */
  connections = 0;
  /** Since when it has no reason to miss a frame; undefined while it has. */
  waitingSince: number | undefined;
  last: TakenFrame | undefined;
  /** The last frame of earlier connections. */
  lastBefore: TakenFrame | undefined;
  #leave: (() => void) | undefined;
  #cancelConnect: () => void = () => undefined;

  constructor(options: LevelReaderOptions) {
    this.options = options;
    this.#connectSoon();
  }

  get name(): string {
    return this.options.name;
  }

  /** Takes no frame until it is fast again. */
  setSlow(isSlow: boolean): void {
    this.isSlow = isSlow;
    this.waitingSince = isSlow || !this.#leave ? undefined : this.options.time.now;
  }

  /** Reads nothing until it is back. */
  setAway(isAway: boolean): void {
    if (isAway === this.isAway) return;
    this.isAway = isAway;
    this.leave();
  }

  /** The reader or the process ends the connection; the reader connects again unless it is away. */
  leave(): void {
    const { time } = this.options;
    const { process } = this;
    if (process && this.#leave) time.after(0, this.#leave, process.machine);
    this.#leave = undefined;
    this.process = undefined;
    this.waitingSince = undefined;
    this.#connectSoon();
  }

  #connectSoon(): void {
    const { time, random } = this.options;
    this.#cancelConnect();
    if (!this.isAway) this.#cancelConnect = time.after(random.int(50, 500), () => this.#connect());
  }

  #connect(): void {
    const { time, target, basis } = this.options;
    const process = target();
    if (!process) {
      this.#connectSoon();
      return;
    }
    this.process = process;
    this.connections += 1;
    this.lastBefore = this.last ?? this.lastBefore;
    this.last = undefined;
    const connection = this.connections;
    const isOpen = () => this.process === process && this.connections === connection;
    const query = { format: 'builder', venue: null, listed: null, basis, pools: null } as const;
    const open = async () => {
      const feed = await process.levels.open(query, true);
      if (!isOpen()) return;
      const reader = this;
      this.waitingSince = this.isSlow ? undefined : time.now;
      this.#leave = feed({
        get isReady() {
          return !reader.isSlow;
        },
        take: ({ frame }) => {
          if (isOpen()) this.#take(frame.toString());
        },
        onSilence: () => {
          if (!isOpen()) return;
          this.#leave = undefined;
          time.in(time.world, () => this.leave());
        },
      });
    };
    const opening = () => open().catch(() => isOpen() && time.in(time.world, () => this.leave()));
    time.after(1, () => void opening(), process.machine);
  }

  #take(text: string): void {
    const { time, onFrame } = this.options;
    const [, block = '', made = ''] = HEAD.exec(text) ?? [];
    const prices = new Map([...text.matchAll(PAIR)].map(([, pool = '', out = '']) => [indexOf(pool), BigInt(out)]));
    const frame = { at: time.now, block: BigInt(block), madeAtMs: Number(BigInt(made) / 1_000_000n), prices };
    onFrame(this, frame);
    this.last = frame;
    this.waitingSince = time.now;
  }
}
