"""Words of similar meaning that may replace one another in a description.

"Grabs a roll" may describe "steals a roll". Any two words of a group are near. A word may be in
several groups, since nearness is not transitive: "slide" is near "glide" and near "fall". Groups
are separated by semicolons. Written by hand.
"""

from __future__ import annotations

DEEDS = """
bump collide hit knock crash ram; grab snatch steal take pick get pocket rob; collect gather pick;
drop fall spill; fall slip trip stumble topple tumble slide lose; slip skid slide;
jump leap dive plunge hop vault spring pounce; dive plunge submerge; glide slide skate skim;
fly hover float glide soar drift; float drift swim; swim dive snorkel paddle splash;
run rush sprint jog dash hurry scurry charge bolt scamper gallop hasten; flee escape run leave;
chase pursue follow run hunt; follow trail track;
walk stroll step head stride march pace tread wander hike trek saunter;
walk come go approach move; hike trek climb; limp walk stagger stumble; waddle walk toddle;
enter come step walk go arrive slip; leave exit go depart walk; arrive come reach;
approach come walk near; cross traverse walk pass; pass overtake; pass walk drive; pass hand give;
give hand offer present deliver bring serve; present show introduce demonstrate display;
bring carry fetch deliver take; carry hold bring transport haul lug;
hold grip carry clutch cradle grasp; hold embrace hug cradle; serve bring offer;
receive accept take get; accept take; return bring come go; put place lay set drop;
put add place insert; add pour sprinkle put mix drizzle; sprinkle scatter dust;
insert put push slide; put wear don; stuff put cram fill; load put place fill pack stack;
stack pile arrange; pack fill put; unload remove; remove take pull; take remove; open unlock;
open unwrap unpack; close shut slam; lock close; slam bang hit; knock tap hit;
tap touch hit knock; press push touch tap; push shove move; push press; pull drag draw; tug pull;
draw pull take unsheathe; draw sketch paint write; paint draw color;
write sign note draw scribble; sign write; type write press; read look study browse;
browse read scroll look; scroll browse swipe;
look see watch observe notice face examine peer view; look search;
notice see spot discover find realize; find discover locate see; search look hunt explore rummage;
examine inspect look check study test; check look examine; test try; watch see look;
show display reveal; hide crouch duck conceal; hide cover; peek look peer; turn spin rotate twist;
turn face; spin turn rotate whirl; roll turn tumble spin; roll rub; swing wave sway; swing hit;
wave gesture signal greet; gesture point signal wave; point aim show; aim shoot point;
shoot fire aim; fire burn; shoot throw; score shoot dunk; dunk slam score;
throw pass pitch fling cast toss launch lob; cast throw; launch fly throw; catch receive;
catch grab; kick hit strike; hit strike kick punch attack smash slam; swing strike;
attack fight hit strike bite; fight struggle wrestle battle argue; fight attack;
argue quarrel talk speak shout discuss; argue fight quarrel; beat defeat hit; beat whisk;
win beat defeat celebrate; win triumph; defeat knock kill; kill shoot stab slay; stab cut;
block stop defend; stop halt brake pause; stop stand; stop park; park stop; pause stop;
wait stand; stand rise get; stand wait; standup stand rise get; sit settle rest perch;
sitdown sit; liedown lie; lie rest; rest sit lie relax sleep; relax rest; awake wake open;
sleep rest; kneel crouch bend bow; bend lean bow crouch stoop; lean bend rest; crouch bend;
bow nod; nod agree; shake wave; shake tremble vibrate; shiver tremble shake;
greet welcome hug wave shake bow; meet greet encounter; welcome greet; hug embrace hold;
kiss embrace; touch feel stroke pat hold brush; pat touch; stroke touch; rub touch massage wipe;
scratch rub; tickle touch; comb brush; brush clean;
clean wipe sweep wash polish dust tidy mop vacuum; wash rinse; rinse clean; sweep clean; wipe dry;
dry wipe; lick eat taste; eat taste feed bite nibble; feed eat give; taste try eat; drink swallow;
drink eat; pour fill; fill pour; cook fry stir bake boil grill; fry cook; bake cook; boil cook;
stir mix; mix combine; knead press; cut trim slice saw; trim cut; peel cut; chop cut; crack break;
tear rip; tear cut; break destroy smash damage; destroy break demolish damage explode;
explode destroy; collapse fall; crash fall; sink drown; burn light ignite;
light ignite illuminate turn; light burn; extinguish blow; blow extinguish; inflate blow;
smoke puff; breathe blow inhale; ride drive cycle travel race; ride pedal cycle bike; ride sit;
drive travel move; travel move; speed race run; race run compete; compete race; steer turn;
mount climb; board enter; board climb; alight leave; descend climb; climb ascend scale go;
climb clamber; rise ascend lift; lift raise hoist pick carry; raise lift hold; hang suspend;
hang attach; attach fix connect put tie; connect join attach plug; join connect; join unite meet;
assemble build attach connect; build make construct; make create build prepare craft form;
create make craft; shape form mold sculpt carve make; carve cut sculpt; sew stitch; knit sew;
fold wrap; wrap fold; decorate adorn; repair fix; fix install; install attach; dig shovel;
plant dig; water spray; spray splash; splash spray; pick harvest; play perform; play enjoy;
play dribble; perform dance sing play; perform act; sing perform; dance waltz twirl spin sway;
waltz dance; cheer celebrate clap shout; clap applaud cheer; celebrate cheer rejoice hug;
laugh smile; smile laugh; cry weep sob; cry shout; shout scream cry call; call shout; call phone;
talk interview say tell speak; interview question ask talk; ask question talk;
answer reply respond talk; answer explain; explain describe teach talk present demonstrate;
teach explain instruct; report announce talk; announce say; introduce present; lecture talk teach;
sigh breathe; yawn sleep; apologize say; invite ask; thank say; warn tell; scold shout;
threaten warn; argue debate; joke laugh; pray kneel; marry wed; propose kneel; practice train;
exercise train stretch; train exercise; stretch reach; reach extend; grab reach;
film photograph shoot; photograph shoot capture; record film; photo photograph; pose stand;
model pose; dress wear; undress remove; undo remove; tie fasten; untie remove; buy purchase;
buy pay; sell offer; pay give; count check; weigh measure; measure check;
help assist support rescue; rescue save help; support help; protect defend; defend protect guard;
guard watch; treat help; treat heal; hurt fall; save help; control operate steer; operate use;
activate turn; swipe slide; wrestle fight; tackle fight; dodge avoid; avoid dodge; escape flee;
crawl creep; sneak creep walk; creep walk; stumble trip; wobble sway; sway swing;
emerge come appear; appear arrive come; disappear vanish; disappear leave; turnaround turn;
transform change turn become; change transform; become turn; melt dissolve; grow sprout;
bloom open; shine light; flash blink; blink wink; stare look; face look; admire look;
think ponder; worry fear; scare startle; surprise startle
""".strip()
"""Verbs."""

THINGS = """
food meal dish snack; meal dinner lunch breakfast supper; drink beverage; cup glass bottle;
bowl plate dish; pot pan; knife cleaver; counter table bar countertop; table desk;
seat chair bench stool couch; door doorway entrance gate exit portal; gate entrance; window pane;
wall facade; floor ground; ground soil dirt floor earth land; roof rooftop ceiling;
stair step ladder; house building home cottage cabin mansion; building structure tower;
tower spire building; room hall chamber interior space; hall hallway corridor auditorium;
hallway aisle passage; street road alley path; road path track highway; path trail;
intersection crossing crosswalk junction; bridge walkway; square plaza courtyard;
park garden yard; yard lawn garden; field meadow grassland lawn plain; forest tree grove wood;
tree branch trunk; branch twig stick; bush shrub plant hedge; leaf foliage;
hill slope mountain cliff ridge; mountain cliff valley hill; cliff edge ledge; snow ice; ice rink;
hole pit gap; hay straw; pile heap stack mound cart; water river sea lake pool; sea wave coast;
beach sand sea; rain storm; storm lightning thunder; fire flame blaze campfire;
smoke dust fog mist; light lamp lantern beam spotlight; car vehicle van truck;
vehicle car truck bus; truck van lorry; motorcycle scooter; bicycle cycle; train subway tram;
boat raft ship canoe kayak; airplane helicopter; bag backpack suitcase sack purse;
box package parcel container chest; package parcel gift; gift present box; container box jar bin;
ball basketball football; basket hoop rim net; net goal; goal point; game match;
player athlete teammate; team player; opponent rival enemy; enemy villain; referee umpire;
coach trainer; crowd audience spectator people fan; guest visitor; customer client shopper;
clerk cashier seller vendor; waiter waitress server; chef cook; worker laborer employee staff;
colleague coworker; boss manager; teacher instructor professor; student pupil classmate;
doctor nurse surgeon; police guard sheriff detective; criminal thief robber burglar suspect;
prisoner inmate; soldier warrior troop; king queen prince princess; monk priest;
host anchor presenter reporter; reporter journalist; musician guitarist pianist drummer;
singer vocalist; dancer ballerina; actor performer; artist painter craftsman;
craftsman artisan worker; magician wizard; hero superhero; driver motorist; pilot captain;
sailor crew; friend companion buddy; couple pair; husband wife; father dad parent;
mother mom parent; son boy child; daughter girl child; brother sister sibling;
grandfather grandpa; grandmother grandma; lover boyfriend girlfriend; baby child;
animal creature pet; pet dog cat; dog puppy; kitten cat; horse pony; cow calf; sheep lamb goat;
bird gull parrot; fish shark; snake serpent; monster dragon beast; robot machine android;
machine device equipment; device gadget; gun weapon; sword blade knife; stick pole cane baton rod;
rope string cable leash chain; cable wire cord; tool hammer wrench screwdriver; phone device;
screen monitor display television; computer laptop; camera camcorder;
picture photo image painting; book magazine notebook; paper document page sheet note letter;
note letter message; newspaper paper; map chart; sign board banner billboard; flag banner;
poster picture; money cash coin bill; cash money; ticket card; cloth fabric towel;
clothes outfit shirt dress; shirt jersey sweater; jersey uniform shirt; jacket suit vest;
dress gown skirt; robe cloak cape; cloak cape; hat helmet cap hood; mask face;
glasses eyeglasses goggles; scarf shawl; shoe boot shoelace; glove mitten; belt strap;
ring jewelry; hair head; face cheek head; head face; mouth lip; hand palm fist finger arm;
arm hand shoulder; leg foot knee; foot leg; belly stomach chest; back shoulder; body torso;
blood wound; tear cry; smile happy; cake dessert; bread roll bun toast; meat steak beef chicken;
vegetable salad; noodle pasta; soup stew broth; sauce dressing; egg omelet; ingredient vegetable;
coffee espresso latte; wine beer alcohol; medicine pill; cigarette cigar; instrument guitar piano;
music song melody; song tune; drum percussion; stage platform; trick stunt move; scene moment;
party celebration; wedding ceremony; ceremony ritual; competition race contest tournament;
race track; track rail; trophy cup medal; medal award; bed mattress;
cabinet drawer shelf cupboard; shelf rack; stall booth stand; shop store market bakery;
market stall; restaurant cafe bar; bar saloon pub; hotel lobby; office workspace desk;
kitchen counter; classroom school; hospital ward; station platform; prison jail cell;
factory workshop; furnace oven; oven stove; toilet bathroom; pool water; court arena field;
arena stadium court; fence gate wall; statue sculpture; tomb grave; cross crucifix; planet space;
rocket spaceship; spaceship spacecraft ship; bomb explosion; explosion blast fire;
rubber inflatable; toy doll; ground field; night dark; dark shadow; day morning; bright light;
large tall; big tall; small short; tall high; old ancient; young little; red crimson; brown tan;
happy smile; sad tear cry; angry shout; scared afraid; tired exhausted; injured hurt; dirty muddy;
wet rain; hot fire; cold snow; quick hurry; text title letter inscription;
grass lawn; background backdrop
""".strip()
"""Things, persons, places and their properties."""
