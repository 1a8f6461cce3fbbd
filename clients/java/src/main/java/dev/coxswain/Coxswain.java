package dev.coxswain;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/** A running Kubernetes control plane for tests. */
public final class Coxswain implements AutoCloseable {
  private static final Pattern READY = Pattern.compile("ready at (\\S+), run: export KUBECONFIG=(.+)");

  private final Process process;
  private final Path folder;
  private final String url;
  private final Path kubeconfig;

  /** Returns when a Pod can be created. Flags are those of coxswain up. */
  public static Coxswain start(String... flags) throws IOException {
    Path folder = Files.createTempDirectory("coxswain-");
    List<String> command = new ArrayList<>(List.of(System.getenv().getOrDefault("COXSWAIN", "coxswain"), "up",
        "--port=0", "--storage=memory", "--data-dir=" + folder.resolve("data")));
    command.addAll(List.of(flags));
    Path errors = folder.resolve("errors");
    return new Coxswain(new ProcessBuilder(command).redirectError(errors.toFile()).start(), folder, errors);
  }

  private Coxswain(Process process, Path folder, Path errors) throws IOException {
    this.process = process;
    this.folder = folder;
    String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
    var match = READY.matcher(line == null ? "" : line);
    if (!match.find()) {
      String reason = Files.readString(errors);
      close();
      throw new IOException("coxswain did not start: " + reason);
    }
    url = match.group(1);
    kubeconfig = Path.of(match.group(2));
  }

  /** Where it serves. */
  public String url() {
    return url;
  }

  /** The kubeconfig of an administrator. */
  public Path kubeconfig() {
    return kubeconfig;
  }

  /** Ends the server and removes its files. */
  @Override
  public void close() throws IOException {
    process.destroy();
    process.onExit().join();
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
    }
  }
}
