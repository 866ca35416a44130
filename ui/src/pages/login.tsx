import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { key } from "../api/key";
import styles from "./login.module.css";

// Login asks for the key that the server wants. The key is kept for this tab alone.
export function Login({ tried }: { tried: boolean }) {
  const [text, setText] = useState("");
  const queries = useQueryClient();
  return (
    <main className={styles.login}>
      <h1>Roster</h1>
      <p>This server wants to know who you are.</p>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          key.set(text.trim());
          setText("");
          void queries.resetQueries();
        }}
      >
        {/* what is kept by programs that fill in passwords has a name there */}
        <input type="text" autoComplete="username" value="roster" readOnly hidden />
        <label htmlFor="key">Key</label>
        <input
          id="key"
          type="password"
          autoComplete="current-password"
          value={text}
          onChange={(e) => setText(e.target.value)}
          aria-invalid={tried}
          aria-describedby={tried ? "why" : undefined}
          required
        />
        {tried && (
          <p id="why" role="alert" className={styles.why}>
            The server does not take this key.
          </p>
        )}
        <button className="primary">Go on</button>
      </form>
      <p className="muted">
        An administrator makes one with <code>roster keys add</code>. It is kept until this tab is closed.
      </p>
    </main>
  );
}
