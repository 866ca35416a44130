import createClient from "openapi-fetch";
import { key } from "./key";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

// ApiError is what the server has answered instead of what was asked for.
export class ApiError extends Error {
  constructor(
    readonly status: number, // of HTTP; 0: there was no answer
    readonly code: string, // such as ProfileNotFound
    message: string,
    readonly diagnostics: Schemas["Diagnostic"][] = [],
  ) {
    super(message);
  }
}

// errorOf reads an answer that is none.
async function errorOf(response: Response): Promise<ApiError> {
  try {
    const body = (await response.clone().json()) as Schemas["Error"];
    return new ApiError(response.status, body.code, body.error, body.diagnostics);
  } catch {
    return new ApiError(response.status, "HTTP" + response.status, response.statusText || "no answer that can be read");
  }
}

// request is fetch with the key, whose errors say what happened.
export async function request(input: Request | string, init: RequestInit = {}): Promise<Response> {
  const asked = new Request(input, init);
  const known = key.get();
  try {
    if (known !== null) asked.headers.set("Authorization", "Bearer " + known);
  } catch {
    key.refuse(known); // what no header can hold is no key
    throw new ApiError(401, "Unauthorized", "The server does not take this key.");
  }
  let response: Response;
  try {
    response = await fetch(asked);
  } catch (cause) {
    if (asked.signal.aborted) throw cause;
    throw new ApiError(0, "Unreachable", "The server does not answer.");
  }
  if (response.status === 401) key.refuse(known);
  if (!response.ok && response.status !== 304) throw await errorOf(response);
  return response;
}

export const api = createClient<paths>({ baseUrl: location.origin, fetch: request });

// data is the body of an answer: errors have been thrown by request.
export async function data<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}
