import type { File as Attached, Image } from "./draft";

const images: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const maxImage = 5 << 20; // bytes; what all of a request may have is less than twice that
const maxText = 256 << 10;

// readFile makes an attachment of a file that somebody has chosen. The error says why it
// cannot be one.
export async function readFile(f: globalThis.File): Promise<Attached> {
  if (images.includes(f.type)) {
    if (f.size > maxImage) throw new Error(`${f.name} is larger than 5 MiB.`);
    return { kind: "image", name: f.name, mediaType: f.type as Image["mediaType"], data: await base64(f) };
  }
  if (f.size > maxText) throw new Error(`${f.name} is no picture, and longer than 256 KiB.`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await f.arrayBuffer());
    if (text.includes("\0")) throw new Error();
    return { kind: "text", name: f.name, text };
  } catch {
    throw new Error(`${f.name} is neither text in UTF-8 nor a PNG, JPEG, GIF or WebP picture.`);
  }
}

async function base64(f: Blob): Promise<string> {
  const bytes = new Uint8Array(await f.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
