import { marked, type Token, type Tokens } from "marked";
import { Fragment, memo, type ReactNode } from "react";
import styles from "./markdown.module.css";

// Markdown shows a text that nobody vouches for. It makes elements of what the parser
// has found and never HTML of text, so that whatever stands in it stays text: HTML is
// shown as it is written, links lead to the web alone, and pictures are links, for the
// page fetches nothing from elsewhere.
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div className={styles.markdown}>{blocks(marked.lexer(text, { gfm: true, async: false }))}</div>;
});

function blocks(tokens: Token[]): ReactNode[] {
  return tokens.map((t, i) => <Fragment key={i}>{block(t as Tokens.Generic)}</Fragment>);
}

const headings = ["h3", "h4", "h5", "h6", "h6", "h6"] as const; // below those of the page

function block(t: Tokens.Generic): ReactNode {
  switch (t.type) {
    case "space":
    case "def":
      return null;
    case "paragraph":
      return <p>{inlines(t.tokens)}</p>;
    case "heading": {
      const Heading = headings[(t.depth as number) - 1] ?? "h6";
      return <Heading>{inlines(t.tokens)}</Heading>;
    }
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{t.text}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote>{blocks(t.tokens ?? [])}</blockquote>;
    case "hr":
      return <hr />;
    case "list": {
      const list = t as Tokens.List;
      const items = list.items.map((item, i) => (
        <li key={i}>
          {item.task && <input type="checkbox" checked={item.checked ?? false} readOnly disabled aria-label="done" />}
          {item.tokens.map((one, j) => (
            <Fragment key={j}>
              {one.type === "text" ? inlines((one as Tokens.Text).tokens ?? [one]) : block(one)}
            </Fragment>
          ))}
        </li>
      ));
      return list.ordered ? <ol start={list.start === "" ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return table(t as Tokens.Table);
    case "text":
      return <p>{inlines(t.tokens ?? [t])}</p>;
    default:
      return <p>{t.raw}</p>;
  }
}

function table(t: Tokens.Table): ReactNode {
  return (
    <div className={styles.wide} tabIndex={0} role="group" aria-label="table">
      <table>
        <thead>
          <tr>
            {t.header.map((cell, i) => (
              <th key={i}>{inlines(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {t.rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>{inlines(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: Token[] | undefined): ReactNode[] {
  return (tokens ?? []).map((t, i) => <Fragment key={i}>{inline(t as Tokens.Generic)}</Fragment>);
}

function inline(t: Tokens.Generic): ReactNode {
  switch (t.type) {
    case "strong":
      return <strong>{inlines(t.tokens)}</strong>;
    case "em":
      return <em>{inlines(t.tokens)}</em>;
    case "del":
      return <del>{inlines(t.tokens)}</del>;
    case "codespan":
      return <code>{t.text}</code>;
    case "br":
      return <br />;
    case "link":
      return link(String(t.href), inlines(t.tokens));
    case "image":
      return link(String(t.href), `🖼 ${String(t.text) || String(t.href)}`);
    case "escape":
    case "text":
      return t.tokens ? inlines(t.tokens) : decode(String(t.text));
    default:
      return t.raw;
  }
}

function link(href: string, text: ReactNode): ReactNode {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return text;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {text}
    </a>
  );
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };

// decode undoes the entities that writers use for what would be Markdown otherwise.
function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? "");
}
