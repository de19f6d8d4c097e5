// Prints what Compose would act on: a Compose file, checked and with its variables and anchors
// filled in, read by the library that `docker compose` itself reads files with.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(
		os.Args[1:], cli.WithOsEnv, cli.WithDefaultProfiles(), cli.WithName("caliper"),
	)
	if err != nil {
		fail(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		fail(err)
	}
	text, err := project.MarshalYAML()
	if err != nil {
		fail(err)
	}
	fmt.Print(string(text))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
