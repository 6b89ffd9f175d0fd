import { type Address, type Hex, keccak256, stringToHex } from 'viem';

/**
 * Code with the addresses of the libraries that it calls, by their names. A source has the name of its path below
 * `devnet/contracts`, and may hold several libraries.
 */
export function linked(code: Hex, libraries: Readonly<Record<string, Address>>): Hex {
  const places = new Map(
    Object.entries(libraries).map(([name, address]) => {
      const source = SOURCES[name] ?? '';
      return [keccak256(stringToHex(`${source}:${name}`)).slice(2, 36), address.slice(2)];
    }),
  );
  return code.replace(/__\$([0-9a-f]{34})\$__/g, (whole, hash) => places.get(hash) ?? whole) as Hex;
}

const SOURCES: Readonly<Record<string, string>> = {
  Chained: 'hostile/Delegators.sol',
  Decoy: 'hostile/Delegators.sol',
  LinkedCurve: 'packed/LinkedPackedPool.sol',
};
