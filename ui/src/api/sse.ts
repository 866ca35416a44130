// Message is one event of a stream, as server-sent events have it.
export interface Message {
  id: string;
  type: string;
  data: string;
}

// parser reads server-sent events from pieces of text, and gives each to take.
export function parser(take: (m: Message) => void): (piece: string) => void {
  let rest = "";
  let m: Message = { id: "", type: "message", data: "" };
  const line = (text: string) => {
    if (text === "") {
      if (m.data !== "") take({ ...m, data: m.data.slice(0, -1) });
      m = { id: m.id, type: "message", data: "" };
      return;
    }
    const colon = text.indexOf(":");
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + (text[colon + 1] === " " ? 2 : 1));
    if (field === "id") m.id = value;
    else if (field === "event") m.type = value;
    else if (field === "data") m.data += value + "\n";
  };
  return (piece) => {
    rest += piece;
    for (let end = rest.search(/\r\n|\n|\r(?!$)/); end >= 0; end = rest.search(/\r\n|\n|\r(?!$)/)) {
      line(rest.slice(0, end));
      rest = rest.slice(end + (rest.startsWith("\r\n", end) ? 2 : 1));
    }
  };
}
