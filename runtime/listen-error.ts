import { ConfigError } from '../config/config-error.ts';

/** Codes of an address that is none of this machine's, whatever the port. */
const ADDRESS_CODES = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/**
 * Says which setting is wrong when nothing can listen on an address: `HOST`, or the one that names the port.
 *
 * @param cause how listening failed
 */
export function listenError(setting: string, host: string, port: number, cause: NodeJS.ErrnoException): ConfigError {
  const { code = '', syscall } = cause;
  const isOfHost = ADDRESS_CODES.includes(code) || syscall === 'getaddrinfo';
  const place = isOfHost ? `HOST: cannot listen on ${host}` : `${setting}: cannot listen on ${host}:${port}`;
  return new ConfigError(`${place} (${code})`, { cause });
}
