import { type Address, numberToHex } from 'viem';
import { dataBytes, EFFECT_OF, HALTS, OP } from './evm-instructions.ts';

/** Whose code a contract runs as its own. */
export type Delegation =
  /** Only that of these contracts: the code itself pushes each address. */
  | { readonly kind: 'fixed'; readonly libraries: readonly Address[] }
  /** That of another contract, whatever the call. */
  | { readonly kind: 'proxy' }
  /** Possibly that of a target which is not written into the code. */
  | { readonly kind: 'open' };

/** A word that the code pushes, or computes from pushed words. */
interface Constant {
  readonly value: bigint;
  readonly isPushed: boolean;
}

/** A word on the stack: its number among the constants, or 0 when it is not known. */
type Word = number;

/** A place in the code, and the stack with which it is reached; the top is the last word. */
interface Visit {
  readonly offset: number;
  readonly stack: Word[];
}

/** Words that a stack may hold. */
const MAX_STACKED = 1_024;
const WORD_BITS = 256n;
const ADDRESS_MASK = 2n ** 160n - 1n;
/** Pushed words from here on may be addresses. Jumps forget smaller ones, except places to jump to. */
const MIN_ADDRESS = 2n ** 64n;
/** Largest code that is followed: places are distinguished by offsets and constants as characters of 16 bits. */
const MAX_BYTES = 0xffff;

/**
 * Finds out whose code a contract runs as its own. It follows the code along every jump, with the words that the code
 * itself pushes. The answer is `open` where the target of a jump or delegation is not such a word, where an instruction
 * is unknown, or where the code or the number of steps is too large.
 *
 * @param mostSteps limit of instructions and of stack words at jumps, together: a million take about 40 ms
 */
export function delegationOf(code: Uint8Array, mostSteps: number): Delegation {
  return code.length > MAX_BYTES ? { kind: 'open' } : new Follower(code).follow(mostSteps);
}

class Follower {
  readonly #code: Uint8Array;
  /** By number; number 0 stands for an unknown word. */
  readonly #constants: Constant[] = [{ value: 0n, isPushed: false }];
  readonly #numbers = new Map<string, Word>();
  /** Number of the pushed word, by the offset of the instruction. */
  readonly #pushed: Int32Array;
  readonly #destinations = new Set<number>();
  readonly #libraries = new Set<Address>();
  readonly #ahead: Visit[] = [{ offset: 0, stack: [] }];
  #steps = 0;

  constructor(code: Uint8Array) {
    this.#code = code;
    this.#pushed = new Int32Array(code.length);
    // Data of a push is never an instruction.
    for (let offset = 0; offset < code.length; offset++) {
      const instruction = code[offset] ?? 0;
      if (instruction === OP.jumpDestination) this.#destinations.add(offset);
      if (instruction < OP.push0 || instruction > OP.push32) continue;
      const data = code.subarray(offset + 1, offset + 1 + dataBytes(instruction));
      const value = data.reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
      this.#pushed[offset] = this.#numberOf({ value, isPushed: true });
      offset += dataBytes(instruction);
    }
  }

  follow(mostSteps: number): Delegation {
    const seen = new Set<string>();
    const kept = this.#constants.map((constant) => this.#isKept(constant));
    for (let visit = this.#ahead.pop(); visit; visit = this.#ahead.pop()) {
      const stack = visit.stack.map((word) => (kept[word] ? word : 0));
      this.#steps += stack.length;
      const key = String.fromCharCode(visit.offset, ...stack);
      if (seen.has(key)) continue;
      seen.add(key);
      const isFollowed = this.#run({ offset: visit.offset, stack });
      if (!isFollowed || this.#steps > mostSteps) return { kind: 'open' };
      if (visit.offset === 0 && this.#libraries.size > 0) return { kind: 'proxy' };
    }
    return { kind: 'fixed', libraries: [...this.#libraries] };
  }

  /** Runs to the next jump or end; false where that cannot be followed. */
  #run({ offset, stack }: Visit): boolean {
    for (let at = offset; at < this.#code.length; at++) {
      const instruction = this.#code[at] ?? 0;
      this.#steps++;
      if (HALTS.has(instruction)) return true;
      if (at > offset && instruction === OP.jumpDestination) {
        this.#ahead.push({ offset: at, stack });
        return true;
      }
      const effect = EFFECT_OF[instruction];
      if (!effect) return false;
      // The contract fails here.
      if (stack.length < effect.taken || stack.length > MAX_STACKED) return true;
      if (instruction === OP.jump || instruction === OP.jumpIf) return this.#jump(at, instruction, stack);
      if (instruction === OP.delegateCall || instruction === OP.callCode) {
        const target = this.#addressOf(stack.at(-2));
        if (!target) return false;
        this.#libraries.add(target);
      }
      this.#change(stack, at, instruction, effect);
      at += dataBytes(instruction);
    }
    return true;
  }

  #jump(at: number, instruction: number, stack: Word[]): boolean {
    const to = this.#constants[stack.pop() || -1];
    if (!to) return false;
    if (instruction === OP.jumpIf) {
      stack.pop();
      this.#ahead.push({ offset: at + 1, stack });
    }
    if (this.#destinations.has(Number(to.value))) this.#ahead.push({ offset: Number(to.value), stack: [...stack] });
    return true;
  }

  #change(stack: Word[], at: number, instruction: number, { taken, given }: { taken: number; given: number }): void {
    if (instruction >= OP.push0 && instruction <= OP.push32) {
      stack.push(this.#pushed[at] ?? 0);
    } else if (instruction >= OP.dup1 && instruction < OP.swap1) {
      stack.push(stack.at(-taken) ?? 0);
    } else if (instruction >= OP.swap1 && instruction < OP.log0) {
      const [top, other] = [stack.at(-1) ?? 0, stack.at(-taken) ?? 0];
      stack[stack.length - 1] = other;
      stack[stack.length - taken] = top;
    } else {
      const word = given === 0 ? 0 : this.#computed(instruction, stack.at(-1), stack.at(-2));
      stack.length -= taken;
      if (given > 0) stack.push(word);
    }
  }

  /** Computes only how compilers make masks, and masked addresses; any other result is unknown. */
  #computed(instruction: number, first: Word = 0, second: Word = 0): Word {
    const [a, b] = [this.#constants[first || -1], this.#constants[second || -1]];
    if (!a || !b) return 0;
    if (instruction === OP.sub) return this.#wordOf(a.value - b.value);
    if (instruction === OP.shl) return a.value < WORD_BITS ? this.#wordOf(b.value << a.value) : 0;
    if (instruction !== OP.and) return 0;
    if (a.value === ADDRESS_MASK) return this.#addressOf(second) ? second : 0;
    return b.value === ADDRESS_MASK && this.#addressOf(first) ? first : 0;
  }

  #wordOf = (value: bigint): Word => this.#numberOf({ value: BigInt.asUintN(256, value), isPushed: false });

  #numberOf(constant: Constant): Word {
    const key = `${constant.isPushed}${constant.value}`;
    const number = this.#numbers.get(key) ?? this.#constants.push(constant) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  #addressOf(word: Word = 0): Address | null {
    const constant = this.#constants[word || -1];
    const isAddress = constant?.isPushed && constant.value <= ADDRESS_MASK;
    return isAddress ? numberToHex(constant.value, { size: 20 }) : null;
  }

  #isKept({ value, isPushed }: Constant): boolean {
    return isPushed && (value >= MIN_ADDRESS || this.#destinations.has(Number(value)));
  }
}
