/** EVM instructions that the code refers to by name. */
export const OP = {
  sub: 0x03,
  and: 0x16,
  shl: 0x1b,
  jump: 0x56,
  jumpIf: 0x57,
  jumpDestination: 0x5b,
  push0: 0x5f,
  push1: 0x60,
  push32: 0x7f,
  dup1: 0x80,
  swap1: 0x90,
  log0: 0xa0,
  callCode: 0xf2,
  delegateCall: 0xf4,
} as const;

/** STOP, RETURN, REVERT, INVALID, SELFDESTRUCT. */
export const HALTS: ReadonlySet<number> = new Set([0x00, 0xf3, 0xfd, 0xfe, 0xff]);

/** Effects on the stack, as words taken and given, each with the instructions that have it. */
const EFFECTS: readonly (readonly [taken: number, given: number, instructions: readonly number[]])[] = [
  [0, 0, [0x5b]],
  [0, 1, [0x30, ...span(0x32, 0x34), 0x36, 0x38, 0x3a, 0x3d, ...span(0x41, 0x48), 0x4a, ...span(0x58, 0x5a)]],
  [0, 1, span(OP.push0, OP.push32)],
  [1, 0, [0x50, OP.jump]],
  [1, 1, [0x15, 0x19, 0x1e, 0x31, 0x35, 0x3b, 0x3f, 0x40, 0x49, 0x51, 0x54, 0x5c]],
  [2, 0, [0x52, 0x53, 0x55, 0x5d, OP.jumpIf]],
  [2, 1, [...span(0x01, 0x07), 0x0a, 0x0b, ...span(0x10, 0x14), ...span(0x16, 0x18), ...span(0x1a, 0x1d), 0x20]],
  [3, 0, [0x37, 0x39, 0x3e, 0x5e]],
  [3, 1, [0x08, 0x09, 0xf0]],
  [4, 0, [0x3c]],
  [4, 1, [0xf5]],
  [6, 1, [OP.delegateCall, 0xfa]],
  [7, 1, [0xf1, OP.callCode]],
  ...span(0, 4).map((topics) => [topics + 2, 0, [OP.log0 + topics]] as const),
  ...span(1, 16).map((depth) => [depth, depth + 1, [OP.dup1 + depth - 1]] as const),
  ...span(1, 16).map((depth) => [depth + 1, depth + 1, [OP.swap1 + depth - 1]] as const),
];

/** By instruction; undefined for halts, and for unknown instructions, whose meaning a fork may change. */
export const EFFECT_OF: readonly ({ readonly taken: number; readonly given: number } | undefined)[] = (() => {
  const effects: ({ readonly taken: number; readonly given: number } | undefined)[] = Array(256).fill(undefined);
  for (const [taken, given, instructions] of EFFECTS) for (const each of instructions) effects[each] = { taken, given };
  return effects;
})();

/** Bytes of data behind an instruction. */
export const dataBytes = (instruction: number): number =>
  instruction >= OP.push1 && instruction <= OP.push32 ? instruction - OP.push0 : 0;

function span(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
