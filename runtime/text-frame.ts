/** First byte of a frame that is a whole text message: as it is, and compressed. */
const FIRST_BYTES = { plain: 0x81, deflated: 0xc1 } as const;

/**
 * Writes a text message as a server sends it: one frame of the WebSocket protocol (RFC 6455). What many clients get is
 * so written once for all of them.
 *
 * @param parts of its payload, in order
 */
export function textFrame(parts: readonly Uint8Array[], form: keyof typeof FIRST_BYTES = 'plain'): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([frameHead(FIRST_BYTES[form], length), ...parts]);
}

function frameHead(firstByte: number, length: number): Buffer {
  if (length < 126) return Buffer.of(firstByte, length);
  const head = Buffer.alloc(length < 0x1_00_00 ? 4 : 10);
  head.writeUInt8(firstByte, 0);
  head.writeUInt8(head.length === 4 ? 126 : 127, 1);
  head.writeUIntBE(length, head.length === 4 ? 2 : 4, head.length === 4 ? 2 : 6);
  return head;
}
